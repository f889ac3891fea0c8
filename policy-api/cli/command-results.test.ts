import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { INITIAL_POLICY } from "../decision/policy.ts";
import { EMPTY_GAINS } from "../visitors/empty-table.ts";
import { drawnRows } from "../visitors/testing-rows.ts";
import { savedView } from "./results-text.ts";
import { type Person, person, TOKENS } from "./testing.ts";

const LEARNING = { ...INITIAL_POLICY, mode: "adaptive" as const, method: EMPTY_GAINS };
const ROWS = drawnRows(1, [
  { rttMs: 200, clients: 1500, saves: 0.2, overH3: 0.9, asn: 64_496, country: "JP" },
  { rttMs: 20, clients: 1500, saves: 0, overH3: 0.9, asn: 64_497 },
  { rttMs: 20, clients: 50, saves: 0, overH3: 0.9, asn: 64_498, country: "KR" },
]);

let anna: Person;
beforeEach(async () => {
  anna = await person();
  await anna.api.ports.store.create({ policy: LEARNING, author: "setup", note: null });
  await anna.api.change({ kind: "put", everyone: 1, stages: [] });
  anna.api.ports.outcomes.rows = ROWS;
});

describe("results", () => {
  it("shows tables that fit a terminal, and last a sentence", async () => {
    const { code, out, err } = await anna.does("results", 100);
    expect([code, err]).toEqual([0, ""]);
    const lines = out.trimEnd().split("\n");
    expect(lines.filter((line) => line.length > 100 || !/^[ -~]*$/.test(line))).toEqual([]);
    expect(lines[0]).toMatch(/^Version 1\. A \/ B: A is for clients that were offered HTTP\/3, B for clients/);
    expect(out).toMatch(/^all +3,050 \/ 3,050 +\d+ \/ [\d,]+ .* \d+\.\d to \d+\.\d +faster$/m);
    expect(out).toMatch(/^RTT 10 to 30 ms +1,550 \/ 1,550 .* not yet$/m);
    expect(out).toMatch(/^RTT under 10 ms +- +- +- +- +- +-$/m);
    for (const whose of ["Japan \\(JP\\)", "AS64496"])
      expect(out).toMatch(new RegExp(`^${whose} +1,500 / 1,500 .*faster$`, "m"));
    expect(out).toMatch(/^smaller countries +1 without 100 clients in each arm$/m);
    expect(out).toMatch(/^all .* 0\.0 \/ 0\.0 +[89]\d\.\d \/ 0\.0$/m);
    expect(out).toMatch(/^smaller networks +1 without 100 clients in each arm$/m);
    expect(out.trimEnd().split("\n\n").at(-1)?.replaceAll("\n", " ")).toMatch(
      /^In all, offering HTTP\/3 saves \d+ to \d+ % of the load time; for visitors with an RTT from 150 ms on it saves [^.]+\. Networks by themselves: [^.]+ are faster for AS64496\.$/,
    );
    expect(anna.api.asked()).toEqual(["GET /results"]);
  });

  it("has a page's view: those of whom clients were compared, and what stands against it", async () => {
    const { code, out } = await anna.does("results --json");
    expect(code).toBe(0);
    const { rows, sentence, doubts } = savedView(JSON.parse(out));
    expect(rows.map(([whose]) => whose)).toEqual([
      "all",
      "RTT 10 to 30 ms",
      "RTT 150 ms and more",
      "Japan (JP)",
      "AS64496",
      "AS64497",
    ]);
    expect(rows[0]?.slice(1)).toEqual(["3,050 / 3,050", expect.stringMatching(/^\d+\.\d to \d+\.\d %$/), "faster"]);
    expect(sentence).toMatch(
      /^In all, offering HTTP\/3 saves .* Networks by themselves: pages .* are faster for AS64496\.$/,
    );
    expect(doubts.join()).not.toContain("To draw some");
    const named = savedView(JSON.parse(out), new Map([[64_496, "a ship"]]));
    expect(named.rows.slice(-2).map(([whose]) => whose)).toEqual(["a ship (AS64496)", "AS64497"]);
    expect(named.sentence).toMatch(/ are faster for a ship \(AS64496\)\.$/);
    const empty = savedView(JSON.parse((await anna.does("results 0 --json")).out));
    expect([empty.rows, empty.doubts.join()]).toEqual([[], expect.stringContaining("To draw some")]);
  });

  it("of another version, and as JSON", async () => {
    const { code, out } = await anna.does("results 0 --json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ version: 0, everyone: { offered: { clients: 0 } } });
    expect(anna.api.asked()).toEqual(["GET /results?version=0"]);
    expect((await anna.does("results 0")).out).toMatch(/this version has no clients that were drawn\.\nTo draw some, /);
  });

  it("says that it is not known whether a version harms, where nobody can be compared", async () => {
    const policy = { ...LEARNING, method: { kind: "rtt-threshold", rttMs: 100 } } as const;
    await anna.api.ports.store.create({ policy, author: "ben", note: null });
    const unknown = "Whether this version harms is not known: where it offers HTTP/3, clients cannot be compared.";
    anna.api.ports.outcomes.rows = drawnRows(2, [{ rttMs: 20, clients: 500, saves: 0, overH3: 0.9, asn: 64_497 }]);
    expect((await anna.does("results 2")).out).toContain(`\n${unknown}\n`);
    anna.api.ports.outcomes.rows = drawnRows(2, [{ rttMs: 200, clients: 500, saves: 0, overH3: 0.9, asn: 64_497 }]);
    expect((await anna.does("results 2")).out).not.toContain(unknown);
  });

  it("begin anew under a version that differs in its `source` alone, for a server that changed", async () => {
    const policy = JSON.parse((await anna.does("show active")).out) as object;
    anna.writes("changed.json", { ...policy, source: "nginx 1.33 with BBR" });
    expect((await anna.does("push changed.json")).out).toContain("changed.json is now version 2.");
    expect((await anna.does("activate 2 --yes")).code).toBe(0);
    expect((await anna.does("results")).out).toMatch(/this version has no clients that were drawn\.\nTo draw some, /);
    expect((await anna.does("results 1")).out).toMatch(/^all +3,050 \/ 3,050/m);
  });

  it("says which objects did not answer, and what is against any claim", async () => {
    anna.api.ports.outcomes.objects = { asked: 32, answered: 30 };
    anna.api.ports.outcomes.rows = drawnRows(1, [
      { rttMs: 200, clients: 500, saves: 0.2, overH3: 0.9, withheldOverH3: 0.5, asn: 64_496 },
    ]);
    const { out } = await anna.does("results");
    expect(out).toContain("2 of 32 objects of the store did not answer: their clients are missing.");
    expect(out).toMatch(/\nNothing may be claimed: .*: something else offers it\.\n$/);
  });

  it("ends with 5 if nothing of the store answers", async () => {
    anna.api.ports.outcomes.rows = [];
    anna.api.ports.outcomes.objects = { asked: 32, answered: 0 };
    const { code, out } = await anna.does("results");
    expect([code, out.trimEnd().split("\n").at(-1)]).toEqual([
      5,
      "Nothing can be said: none of the store's objects answered.",
    ]);
  });

  it.each([
    ["results x", 2, 'The version must be a whole number from 0 to 9007199254740991, and is "x".\n'],
    ["results 1 2", 2, '"2" is one too many. It is: results [VERSION]\n'],
    ["results 7", 1, expect.stringContaining("there is no version 7")],
    ["propose 7", 1, expect.stringContaining("there is no version 7")],
  ])("%s: %i", async (line, code, err) => {
    expect(await anna.does(line)).toEqual({ code, out: "", err });
  });
});

describe("propose", () => {
  it("shows what changes and what it should save, and stores nothing", async () => {
    const { code, out, err } = await anna.does("propose", 100);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").filter((line) => line.length > 100 || !/^[ -~]*$/.test(line))).toEqual([]);
    expect(out).toMatch(/^From version 1, by [\d,]+ clients /);
    expect(out).toMatch(/^next page +150 ms +1 MB +0 % +0 +0\.\d+ +0\.\d+ +3,000$/m);
    expect(out).toMatch(/^\d+ more figures of places near them: with --json\.$/m);
    expect(out).toMatch(/^150 ms +1 MB +\d+(\.\d)? % +an offer$/m);
    expect(out).toMatch(/Expected to save \d\.\d\d % .* \(95 %: \d\.\d\d to \d+\.\d\d %\)\./);
    expect(out).toMatch(/Nothing is stored by this on the server\.\n$/);
    expect(anna.api.asked()).toEqual(["GET /results/proposal"]);
  });

  it("--out writes a policy that push takes, and no file over another", async () => {
    expect((await anna.does("propose --out new.json")).code).toBe(0);
    expect(await anna.does("validate new.json")).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(anna.io.folder, "new.json"), "utf8"))).toMatchObject({
      source: "Learnt from outcomes of version 1",
    });
    writeFileSync(join(anna.io.folder, "there.json"), "mine");
    const { code, err } = await anna.does("propose --out there.json");
    expect([code, err]).toEqual([
      2,
      `--out: ${join(anna.io.folder, "there.json")} is there already, and is not overwritten.\n`,
    ]);
    expect(readFileSync(join(anna.io.folder, "there.json"), "utf8")).toBe("mine");
    expect(await anna.does("propose --out no/such.json")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--out: "),
    });
    expect(anna.api.asked()).not.toContain("POST /policies");
  });

  it("a token that may only read may see it", async () => {
    const bob = await person(TOKENS.read);
    await bob.api.ports.store.create({ policy: LEARNING, author: "setup", note: null });
    bob.api.ports.outcomes.rows = ROWS;
    expect((await bob.does("propose 1")).code).toBe(0);
  });

  it("says why there is none, and ends with 1", async () => {
    anna.api.ports.outcomes.rows = [];
    const { code, out } = await anna.does("propose");
    expect([code, out]).toEqual([
      1,
      "Nothing is proposed from version 1. 0 new clients that were not offered HTTP/3 have reported; it takes 100 to tell whether something else offers it.\n",
    ]);
    expect((await anna.does("propose 0")).out).toContain("The version decides by no gain table.");
    anna.api.ports.outcomes.objects = { asked: 32, answered: 30 };
    expect((await anna.does("propose 1")).out).toContain("2 of 32 objects of the store did not answer: their clients");
    expect(anna.api.asked()).not.toContain("POST /policies");
  });
});
