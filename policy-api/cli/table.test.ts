import { beforeEach, describe, expect, it } from "vitest";
import fc from "fast-check";
import { columnsOf, nameList, printable, table, wrapped } from "./table.ts";
import { adaptivePolicy } from "../decision/testing.ts";
import { type Person, person, testIo } from "./testing.ts";

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

describe("wrapped", () => {
  it.each([
    ["a sentence goes on below its beginning", 24, ["a sentence goes on below", "its beginning"]],
    ["  - an item goes on below its text", 20, ["  - an item goes on", "    below its text"]],
    [
      "a visit   2.2 pages on average, and 45 % come back",
      34,
      ["a visit   2.2 pages on average,", "          and 45 % come back"],
    ],
    ["  pages that were not looked at", 24, ["  pages that were not", "  looked at"]],
    // What stands before it is no name: too little would be left.
    ["2026-11-21T10:00:00Z  3 min ago", 22, ["2026-11-21T10:00:00Z", "3 min ago"]],
    ["see https://www.example.com/a/long/address now", 20, ["see", "https://www.example.com/a/long/address", "now"]],
    ["it took 1200 ms", 14, ["it took", "1200 ms"]],
    ["one\n\ntwo", 60, ["one", "", "two"]],
  ])("%j at %i", (text, columns, lines) => {
    expect(wrapped(text, columns).split("\n")).toEqual(lines);
  });

  it("keeps every word whole, in its order, and no line longer than need be", () => {
    const text = fc.array(fc.stringMatching(/^[!-~]{1,30}$/), { maxLength: 40 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 120 }), (line, columns) => {
        const lines = wrapped(line, columns).split("\n");
        expect(lines.join(" ").split(" ").filter(Boolean)).toEqual(line.split(" ").filter(Boolean));
        for (const one of lines) expect(one.length <= columns || !/\S \S/.test(one)).toBe(true);
      }),
    );
  });
});

it.each<[Record<string, string>, number | undefined, number]>([
  [{}, undefined, Number.POSITIVE_INFINITY],
  [{}, 80, 80],
  [{ COLUMNS: "60" }, 80, 60],
  [{ COLUMNS: "60" }, undefined, 60],
  [{ COLUMNS: "" }, 0, Number.POSITIVE_INFINITY],
  [{ COLUMNS: "wide" }, 80, 80],
])("a line's width, with %j and a terminal of %s columns: %s", (env, columns, expected) => {
  const io = testIo(env);
  expect(columnsOf(io, Object.assign(io.stdout, columns === undefined ? {} : { columns }))).toBe(expected);
});

describe("every command", () => {
  const NOTE =
    "HTTP/3 fails behind the new load balancer of the second data centre, as https://status.example/4711 says";
  let anna: Person;
  beforeEach(async () => {
    anna = await person();
    const mixAbout =
      "access lines, fixed and cellular (assumed): of every hundred clients seventy lose nothing, and three much";
    const { method } = adaptivePolicy();
    anna.writes("a.json", adaptivePolicy({ source: NOTE, method: { ...method, mixAbout } as typeof method }));
    anna.writes("bad.json", {
      schema: 3,
      mode: "fixed",
      ma: { minS: 0, maxS: 60 },
      margin: { enter: "a" },
      nothing: 1,
    });
    await anna.does(["push", "a.json", "--note", NOTE]);
    await anna.does(["activate", "1", "--share", "5%", "--path", "/shop/", "--note", NOTE]);
    await anna.does(["kill", "--yes", "--note", NOTE]);
  });

  const LINES = [
    "status",
    "list",
    "history",
    "audit",
    "validate a.json",
    "validate bad.json",
    "diff a.json",
    "push a.json",
    "activate 1 --path /",
    "rollback",
    "explain --rtt 40 --loss 2.5% --rate 25000000",
    "look-up --client 192.0.2.7",
    "stats",
    "results",
    "propose",
    "autopilot",
    "cost --page-views 100M",
    "help",
    "help diff",
    "forget --client 192.0.2.7",
  ];

  it.each([60, 80, 120].flatMap((columns) => LINES.map((line) => [line, columns] as const)))(
    "`%s` fits %i columns",
    async (line, columns) => {
      Object.assign(anna.io.stderr, { columns });
      const { out, err } = await anna.does(line, columns);
      const long = `${out}${err}`.split("\n").filter((one) => one.length > columns);
      // A value that is one word stays whole, beside its name.
      expect(long.filter((one) => !/^(?:\S+(?: \S+)* {2,})?\S+$/.test(one.trim()))).toEqual([]);
    },
  );

  it.each(["list", "history", "audit"])("`%s` has every note, whole: on one line in a pipe", async (line) => {
    const rows = (await anna.does(line)).out.split("\n").filter((row) => row.includes("HTTP/3"));
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row.endsWith(`  ${NOTE}`)).toBe(true);
    for (const columns of [60, 80, 120]) {
      const { out } = await anna.does(line, columns);
      for (const word of NOTE.split(" ")) expect(out).toContain(word);
      expect(out).not.toContain("...");
    }
  });

  it("prints for other programs as it is", async () => {
    for (const line of ["show 1", "compile a.json --to nginx", "marker-rule"])
      expect((await anna.does(line, 60)).out, line).toBe((await anna.does(line)).out);
  });
});
