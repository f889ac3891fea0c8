import { describe, expect, it } from "vitest";
import { exampleStart } from "../../harness/loads/testing.ts";
import { reportText } from "../../harness/results.ts";
import type { LoadResult } from "../../model/plan.ts";
import { blankRow } from "../../model/row-schema.ts";
import { changedLines, changedReport, changedSummary } from "./findings.ts";
import { isOver, rowOf } from "./measure.ts";
import { CHANGED_ROW, type ChangedRow, NETWORKS, type Part } from "./settings.ts";
import { decidedBy } from "./token.ts";

/** 48 bytes, as worker/reporter/token.ts writes them: form, flags, version. */
function token(form: number, flags: number, version: number): string {
  const bytes = Buffer.alloc(48);
  bytes.writeUInt8(form, 0);
  bytes.writeUInt8(flags, 1);
  bytes.writeUInt32BE(version, 2);
  return bytes.toString("base64url");
}

describe("decidedBy", () => {
  it.each([
    [0, "policy"],
    [1, "offer"],
    [2, "withhold"],
  ])("reads who chose: %i", (arm, name) => {
    // The other bits are what was advertised, the position and the transport.
    expect(decidedBy(token(2, arm | 0b1_010_01_00, 258))).toEqual({ arm: name, version: 258 });
  });
  it.each([
    ["another form", token(3, 0, 1)],
    ["no arm", token(2, 3, 1)],
  ])("refuses %s", (_name, text) => {
    expect(() => decidedBy(text)).toThrow("another form");
  });
});

it("makes a row of a visit, and one of a visit that said nothing", () => {
  const own = { part: "after", round: 3, day: 6, network: "20 ms" } as const;
  const result = { id: "3/0/1", startedMs: 1, outcome: "ok", error: "", pageMs: [3, 2, 1], filesH3: [0, 10, 10] };
  const told = { ...result, told: [token(2, 1, 7), token(2, 1, 7)], lateRatio: 0, busyRatio: 0.5 };
  expect(rowOf(own, told as unknown as LoadResult)).toMatchObject({
    ...own,
    id: "visit/3/0/1",
    arm: "offer",
    version: 7,
    pagesMs: "3;2;1",
    filesH3: "0;10;10",
    reports: 2,
  });
  expect(rowOf(own, { ...told, told: [] } as unknown as LoadResult)).toMatchObject({ arm: "", version: null });
});

/** Two rounds before the change, three after it, one with a harmful policy. Offers save 20 % with cubic, and cost 100 % with BBR. */
const STORY: readonly (readonly [part: Part, version: number, follows: "offer" | "withhold", said: string])[] = [
  ["before", 1, "offer", "Nothing to do: nothing is proposed. Too few clients."],
  ["after", 1, "offer", "Done: it begins version 1 anew, as HTTP/3's effect is another one since 2026-08-25."],
  ["after", 2, "offer", "Done: it tries what version 2's visitors taught: it should save 40.0 % of new clients' time."],
  ["after", 2, "offer", "Done: it gives version 3 to everyone."],
  ["after", 3, "withhold", "Nothing to do: no other policy is known to save time."],
  [
    "harmful",
    4,
    "offer",
    "Done: it takes back version 4. Where this version offers HTTP/3, pages take 80 to 120 % longer.",
  ],
];

function rows(story: typeof STORY): ChangedRow[] {
  const all = story.flatMap(([part, version, follows, said], round) => {
    const own = { part, round, day: round < 1 ? round : round + 3, startedMs: 1e12, outcome: "ok" as const };
    const ratio = { offer: part === "before" ? 0.8 : 2, withhold: 1 };
    const visits = NETWORKS.flatMap(({ name }) =>
      (["policy", "offer", "withhold"] as const).flatMap((arm) =>
        [0.98, 1, 1.02].map((factor, i) => {
          const ms = 500 * factor * ratio[arm === "policy" ? follows : arm];
          const id = `visit/${round}/${name}/${arm}/${i}`;
          const pagesMs = `900;${ms};${ms}`;
          return blankRow(CHANGED_ROW, { ...own, id, kind: "visit", network: name, arm, version, pagesMs, reports: 3 });
        }),
      ),
    );
    return [...visits, blankRow(CHANGED_ROW, { ...own, id: `autopilot/${round}`, kind: "autopilot", said })];
  });
  const audit = { id: "audit/0", kind: "audit", startedMs: 1e12, outcome: "ok", said: "activation.put" } as const;
  return [...all, blankRow(CHANGED_ROW, audit)];
}
const summaryOf = (all: readonly ChangedRow[]) =>
  changedSummary({ rows: all, command: "npm run bench -- changed-server", starts: [exampleStart()] }, 1);

describe("what happened", () => {
  it("says when each thing was done, and what the policies cost until then and after it", () => {
    const lines = changedLines(summaryOf(rows(STORY)));
    expect(lines[0]).toMatch(/^The change was acted on within 1 days\. Until then the policy cost 100\.0 % \(/);
    expect(lines[1]).toBe("Another policy was tried within 2 days. Everyone had another one within 3 days.");
    expect(lines[2]).toMatch(/^From then on the policy cost 0\.0 % \(.*; under 5\.0 %\.$/);
    expect(lines[3]).toMatch(
      /^A harmful policy, put in force by hand, was taken back within 1 days\. It cost 100\.0 % \(/,
    );
  });

  it("says what did not happen", () => {
    const lines = changedLines(summaryOf(rows(STORY.slice(0, 2)))).join("\n");
    expect(lines).toContain("**not in this run**");
    expect(lines).toContain("**not shown to be under**");
  });

  it("knows no regret where a network has too few visits", () => {
    const few = rows(STORY).filter(({ network, arm }) => arm !== "withhold" || network !== NETWORKS[0]?.name);
    expect(summaryOf(few).rounds.map(({ regret }) => regret)).toEqual(STORY.map(() => undefined));
  });
});

it("is over with its audit", () => {
  expect(isOver(rows(STORY))).toBe(true);
  expect(isOver(rows(STORY).slice(0, -1))).toBe(false);
});

it("reports all of it", () => {
  const text = reportText("changed-server", changedReport(summaryOf(rows(STORY))));
  for (const { name } of NETWORKS) expect(text).toContain(name);
  expect(text).toContain("takes back version 4");
  expect(text).toContain("activation.put");
  expect(text).not.toMatch(/NaN|undefined/);
});
