import { expect, it } from "vitest";
import type { Answer } from "./row.ts";
import { changesOf, navigationsUntil, settledAnswer } from "./settle.ts";
import { answersOf, stretchRows } from "./testing.ts";

it.each<[string, boolean, number | null]>([
  ["HHHHHH", true, 0],
  ["-HHHHH", true, 1],
  ["--HHHH", true, 2],
  ["-H-HHH", true, 3],
  ["HHHHH-", true, null],
  ["------", true, null],
  ["cc----", false, 0],
  ["Hc----", false, 1],
  // Of what no document told nothing is known.
  ["-?HHHH", true, 1],
  ["?HHHHH", true, 0],
  ["-HHHH?", true, 1],
  ["HHHH-?", true, null],
  ["??????", true, null],
  ["", true, null],
])("%j settles on offering %s after %s navigations", (letters, offers, count) => {
  expect(navigationsUntil(answersOf(letters), offers)).toBe(count);
});

it.each([
  ["HHHHHH", 0],
  ["-HHHHH", 1],
  // Both withhold.
  ["c-c---", 0],
  ["H-H-HH", 4],
  ["H?H--H", 2],
  ["", 0],
])("the answer changes in %j %d times", (letters, changes) => {
  expect(changesOf(answersOf(letters))).toBe(changes);
});

it("what most of each stretch's last three got is settled", () => {
  const rows = [
    ...stretchRows({ client: 1, stretch: "A1" }, "H---"),
    ...stretchRows({ client: 1, stretch: "A2" }, "HHHc--"),
    ...stretchRows({ client: 2, stretch: "A1" }, "---H"),
    ...stretchRows({ client: 2, stretch: "A2" }, "HHHHH?"),
  ];
  expect(settledAnswer(rows)).toEqual({ offers: false, votes: 8, of: 11 });
  expect(settledAnswer(rows.toReversed())).toEqual({ offers: false, votes: 8, of: 11 });
});

it.each<[string, { offers: null; votes: number; of: number }]>([
  ["-H?", { offers: null, votes: 1, of: 2 }],
  ["", { offers: null, votes: 0, of: 0 }],
])("nothing is settled by %j", (letters, settled) => {
  expect(settledAnswer(stretchRows({}, letters))).toEqual(settled);
});

it("knows its letters", () => {
  expect(answersOf("H-c?")).toEqual<Answer[]>(["offer", "none", "clear", "unknown"]);
});
