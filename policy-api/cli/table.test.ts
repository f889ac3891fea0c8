import { describe, expect, it } from "vitest";
import { printable } from "./printable.ts";
import { nameList, table } from "./table.ts";

/** As wide as may be. */
const PIPE = Number.POSITIVE_INFINITY;

describe("table", () => {
  it("aligns columns, numbers on the right, and has a dash for nothing", () => {
    const rows = [
      ["9", "observe", ""],
      ["10", "adaptive", "calm"],
    ];
    expect(table(["version", "mode", "note"], rows, PIPE).split("\n")).toEqual([
      "version  mode      note",
      "      9  observe   -",
      "     10  adaptive  calm",
    ]);
  });

  const note = "HTTP/3 fails behind the new load balancer";

  it("wraps the widest column where a line would be too long, and cuts nothing", () => {
    expect(
      table(
        ["version", "note"],
        [
          ["1", note],
          ["2", ""],
        ],
        34,
      ).split("\n"),
    ).toEqual(["version  note", "      1  HTTP/3 fails behind the", "         new load balancer", "      2  -"]);
  });

  it("lists a row's values where not even its words fit beside each other", () => {
    const row = ["2026-11-21T10:00:00Z", "v1: 5 % of /shop/", note];
    expect(table(["when", "stages", "note"], [row, row], 30).split("\n").slice(0, 5)).toEqual([
      "when    2026-11-21T10:00:00Z",
      "stages  v1: 5 % of /shop/",
      `note    ${note}`,
      "",
      "when    2026-11-21T10:00:00Z",
    ]);
  });

  it("lists them too where a text would have one word a line", () => {
    const long = `${note}, and before the old one`;
    expect(table(["when", "note"], [["2026-11-21T10:00:00Z", long]], 36)).toBe(
      `when  2026-11-21T10:00:00Z\nnote  ${long}`,
    );
  });

  it("keeps a row on one line in a pipe", () => {
    const [, line] = table(["id", "note"], [["1", `${note} `.repeat(20).trim()]], PIPE).split("\n");
    expect(line).toBe(` 1  ${`${note} `.repeat(20).trim()}`);
  });

  it("lets no note of somebody else write on the terminal", () => {
    expect(table(["note"], [["a\u001b[2Jb\nc\u202ed"]], PIPE)).toBe("note\na?[2Jb c?d");
  });
});

it("nameList puts values below each other, uncut", () => {
  const long = "x".repeat(200);
  expect(nameList({ a: long, longer: "", nothing: undefined })).toBe(`a       ${long}\nlonger  -`);
});

it("printable leaves letters of all scripts", () => {
  expect(printable("für 日本 – ok\t!")).toBe("für 日本 – ok !");
});
