// The page is built of text nodes and elements alone: a name that somebody chose stays text, whatever is in it.

type Child = Node | string | undefined;

/** An element with attributes and children. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** An element of the page itself. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no ${id}.`);
  return found;
}

/** A table with a heading for each column, and one for each row. */
export function tableOf(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly [string, ...(HTMLTableCellElement | string)[]])[],
): HTMLTableElement {
  const cell = (value: HTMLTableCellElement | string): Node =>
    typeof value === "string" ? element("td", {}, value) : value;
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...headings.map((heading) => element("th", { scope: "col" }, heading)))),
    element(
      "tbody",
      {},
      ...rows.map(([name, ...cells]) =>
        element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((value) => cell(value))),
      ),
    ),
  );
}
