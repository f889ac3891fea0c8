import { expect, it } from "vitest";
import { withTables } from "./readme-tables.ts";

const TABLE = "| policy | mean |\n| ------ | ---: |\n| a      |  2 % |";

it("puts a table in place of the one with the same head", () => {
  const text = "# Title\n\n| policy  | mean |\n| ------- | ---: |\n| a and b |  1 % |\n\nAfter it.\n";
  expect(withTables(text, [TABLE])).toBe(`# Title\n\n${TABLE}\n\nAfter it.\n`);
});

it("fails where the page has no such table, and names its head", () => {
  expect(() => withTables("# Title\n", [TABLE])).toThrow("| policy | mean |");
});
