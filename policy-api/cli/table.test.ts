import { describe, expect, it } from "vitest";
import { cut, printable } from "./printable.ts";
import { nameList, table, WIDTH } from "./table.ts";

describe("table", () => {
  it("aligns columns, numbers on the right, and has a dash for nothing", () => {
    const rows = [
      ["9", "observe", ""],
      ["10", "adaptive", "calm"],
    ];
    expect(table(["version", "mode", "note"], rows).split("\n")).toEqual([
      "version  mode      note",
      "      9  observe   -",
      "     10  adaptive  calm",
    ]);
  });

  it("cuts the widest column where a line would break", () => {
    const lines = table(["version", "note"], [["1", "x".repeat(200)]]).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBe(WIDTH);
    expect(lines[1]?.endsWith("x...")).toBe(true);
  });

  it("never cuts a time or a version, whatever that takes", () => {
    const row = ["2026-11-21T10:00:00Z", "v1: 5 % of /shop/; ".repeat(6).trim(), "y".repeat(50)];
    expect(table(["when", "stages", "note"], [row]).split("\n")[1]).toBe(`${row[0]}  ${row[1]}  yyyyy...`);
  });

  it("lets no note of somebody else write on the terminal", () => {
    expect(table(["note"], [["a\u001b[2Jb\nc\u202ed"]])).toBe("note\na?[2Jb c?d");
  });
});

it("nameList puts values below each other, uncut", () => {
  const long = "x".repeat(200);
  expect(nameList({ a: long, longer: "", nothing: undefined })).toBe(`a       ${long}\nlonger  -`);
});

it.each([
  ["short", 5, "short"],
  ["longer", 5, "lo..."],
  ["😀😀😀😀", 4, "😀😀😀😀"],
])("cut %s to %i", (text, width, expected) => {
  expect(cut(text, width)).toBe(expected);
});

it("printable leaves letters of all scripts", () => {
  expect(printable("für 日本 – ok\t!")).toBe("für 日本 – ok !");
});
