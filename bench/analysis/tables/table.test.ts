import { format } from "prettier";
import { expect, it } from "vitest";
import { figuresTable } from "./table-of.ts";

const TITLES = ["network", "ms"];

it("aligns columns", () => {
  expect(
    figuresTable(TITLES, [
      ["5 %, 25 ms", "9.1"],
      ["none", "12345.0"],
    ]),
  ).toBe(
    [
      "| network    |      ms |",
      "| ---------- | ------: |",
      "| 5 %, 25 ms |     9.1 |",
      "| none       | 12345.0 |",
    ].join("\n"),
  );
});

it.each([
  ["no rows", []],
  ["short rows", [["a"]]],
  ["bars and line breaks", [["a|b\nc", "1"]]],
])("is what Prettier makes of it: %s", async (_, rows) => {
  const table = figuresTable(TITLES, rows);
  expect(await format(table, { parser: "markdown" })).toBe(`${table}\n`);
});
