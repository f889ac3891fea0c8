import type { DashboardData } from "./data.ts";
import { element } from "./elements.ts";

/** One line: whether all is well, and how old this page is. */
export function stateOf({ health, activation }: DashboardData): { readonly text: string; readonly isGood: boolean } {
  if ("fault" in health) return { text: health.fault, isGood: false };
  const { status, problems } = health.value;
  const kill = "value" in activation ? activation.value.killSwitch : null;
  const lines = [
    ...(kill === null ? [] : [`The kill switch is on (${kill}).`]),
    ...(status === "ok" ? ["All is well."] : problems.map((problem) => `${problem}.`)),
  ];
  return { text: lines.join("\n"), isGood: status === "ok" && kill === null };
}

/** Who has which version. */
export function forceOf({ activation }: DashboardData): Node {
  if ("fault" in activation) return element("p", { class: "bad" }, activation.fault);
  const { revision, everyone, stages, author, at, note } = activation.value;
  const who = (share: number, pathPrefix: string | null | undefined): string =>
    `${Number((100 * share).toPrecision(3))} % of the clients${pathPrefix == null ? "" : ` on ${pathPrefix}`}`;
  const items = [
    ...stages.map(({ version, share, pathPrefix }) => `${who(share, pathPrefix)}: version ${version}`),
    `${stages.length === 0 ? "Everyone" : "Everyone else"}: version ${everyone}`,
  ];
  const made =
    revision === 0
      ? "Nobody has activated anything yet."
      : `Revision ${revision}, by ${author}, ${at}${note === null ? "" : `: ${note}`}`;
  return element(
    "div",
    {},
    element("ul", {}, ...items.map((item) => element("li", {}, item))),
    element("p", { class: "faint" }, made),
  );
}
