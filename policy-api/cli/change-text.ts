import type { JsonChange } from "../decision/json-diff.ts";
import { printable } from "./printable.ts";
import { count, counted, percent } from "./quantities.ts";

/** For longer lists of numbers, only the length is shown. */
const LIST_SHOWN = 8;
/** Longer lists and objects are shown by what they have. */
const VALUE_WIDTH = 32;

/** One change as `before -> after`. For a long list, how much of it changed. */
export function changeText({ before, after }: JsonChange): string {
  if (isLong(before) && isLong(after) && before.length === after.length) return differenceText(before, after);
  return `${valueText(before)} -> ${valueText(after)}`;
}

function differenceText(before: readonly number[], after: readonly number[]): string {
  const differences = before.flatMap((value, i) => {
    const other = after[i] ?? value;
    // Relative to the larger value, so that a change from 0 has a size too.
    return value === other ? [] : [Math.abs(value - other) / Math.max(Math.abs(value), Math.abs(other))];
  });
  return `${count(before.length)} numbers, ${count(differences.length)} differ, by at most ${percent(Math.max(...differences))}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "-";
  if (isLong(value)) return counted(value.length, "number");
  if (typeof value === "object" && value !== null && JSON.stringify(value).length > VALUE_WIDTH)
    return Array.isArray(value) ? counted(value.length, "item") : `{ ${printable(Object.keys(value).join(", "))} }`;
  return printable(JSON.stringify(value));
}

function isLong(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > LIST_SHOWN && value.every((item) => typeof item === "number");
}
