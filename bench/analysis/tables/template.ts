import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Eta } from "eta";
import { ROOT } from "../../../base/root.ts";

/** What a template may name: text and figures that are formatted already, functions that look one up, or groups and lists of them. */
export type Value =
  | string
  | number
  | boolean
  | undefined
  | ((...args: never[]) => Value)
  | readonly Value[]
  | { readonly [name: string]: Value };
export type Values = { readonly [name: string]: Value };

const eta = new Eta({ autoEscape: false, autoTrim: false });

/**
 * Fills a template (Eta's: `<%= it.name %>`, `<% for (const row of it.rows) { -%>`). Strict where Eta is not: a name that is
 * not given is an error, and so is one that is given and not used, unless it is a function.
 *
 * @param name of the template, for errors
 * @throws Error naming the name
 */
export function fill(template: string, values: Values, name: string): string {
  const used = new Set<string>();
  const text = eta.renderString(template, guarded(values, "", used, name) as Values);
  const unused = pathsOf(values, "").find((path) => !used.has(path));
  if (unused !== undefined) throw new Error(`${name} does not use ${unused}, which it is given.`);
  return text;
}

/** Fills a template of this repository. @param file from the repository's root */
export function fillFile(file: string, values: Values): string {
  return fill(readFileSync(join(ROOT, file), "utf8"), values, file);
}

/** The same values, which note what is read of them; all items of a list are one name. */
function guarded(value: Value, path: string, used: Set<string>, template: string): Value {
  if (isList(value)) return value.map((item) => guarded(item, path, used, template));
  if (typeof value !== "object") return value;
  return new Proxy(value, {
    get: (target, key) => {
      if (typeof key === "symbol") return undefined;
      const inner = path === "" ? key : `${path}.${key}`;
      if (!Object.hasOwn(target, key)) throw new Error(`${template} names ${inner}, which it is not given.`);
      used.add(inner);
      return guarded(target[key], inner, used, template);
    },
  });
}

function pathsOf(value: Value, path: string): string[] {
  if (isList(value)) return [...new Set(value.flatMap((item) => pathsOf(item, path)))];
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === "function") return [];
    const own = path === "" ? key : `${path}.${key}`;
    return [own, ...pathsOf(inner, own)];
  });
}

/** Array.isArray does not narrow readonly arrays. */
function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
