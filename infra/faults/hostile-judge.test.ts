import { describe, expect, it } from "vitest";
import { type HostileRun, judgeHostile, tablesOf } from "./hostile-judge.ts";

const RIGHT: HostileRun = {
  seed: 7,
  summary: {
    inputs: { h1: { target: 12, chunks: 3 }, h3: { qpack: 5 } },
    replies: { h1: { "200": 9, "400": 6 }, h3: { "reset H3_MESSAGE_ERROR": 5 } },
    reports: { fates: { accepted: 2 }, pages: 1, clients: 1 },
    found: 0,
    findings: [],
    seconds: 1,
  },
  lines: ["edge: http: http2: server: error reading preface from client (address): EOF"],
  endings: [],
  memory: { edge: 50e6, workerd: 200e6 },
  visitors: { requests: 30, wrong: [] },
  reports: {
    attacked: { fates: { accepted: 2, replayed: 1 }, pages: 1 },
    replayed: { fates: { accepted: 3, replayed: 2 }, pages: 1, sent: 1 },
    late: undefined,
  },
};
const finding = { index: 45, protocol: "h2", kind: "pseudo", what: "a 502 of ours" };

describe("judgeHostile", () => {
  it("finds nothing wrong with a right run", () => {
    expect(judgeHostile(RIGHT)).toEqual([]);
  });

  it.each<[what: string, changes: Partial<HostileRun>, said: RegExp]>([
    [
      "a finding, and how to see it again",
      { summary: { ...RIGHT.summary, found: 1, findings: [finding] } },
      /^h2\/pseudo, input 45: a 502 of ours\n +again: --hostile 1 --from 45 --seed 7$/,
    ],
    ["findings beyond the examples", { summary: { ...RIGHT.summary, found: 3 } }, /^3 more findings$/],
    ["a panic", { lines: ["edge: panic: http: panic serving (address): oh"] }, /^a program wrote: edge: panic/],
    ["a stack of Go", { lines: ["goroutine 17 [running]:"] }, /^a program wrote/],
    ["a stack of JavaScript", { lines: ["    at decide (worker.js:10:7)"] }, /^a program wrote/],
    ["an exception in workerd", { lines: ["workerd/io/worker.c++:1: Uncaught TypeError: x"] }, /^a program wrote/],
    ["a program that ended", { endings: ["workerd ended by itself (signal SIGSEGV)."] }, /^workerd ended/],
    ["an edge that grew", { memory: { edge: 1e9, workerd: 1 } }, /^edge holds 1000 MB, and may hold 256 MB$/],
    ["a workerd that is gone", { memory: { edge: 1, workerd: 0 } }, /^workerd holds 0 MB/],
    ["no visitors", { visitors: { requests: 0, wrong: [] } }, /^no visitor came/],
    ["a wrong answer", { visitors: { requests: 1, wrong: ["1 x wrong"] } }, /^a visitor: 1 x wrong$/],
    [
      "reports that the books do not fit",
      { reports: { ...RIGHT.reports, replayed: { ...RIGHT.reports.attacked, sent: 1 } } },
      /^reports: 0 were known when they came again/,
    ],
  ])("finds %s", (_, changes, said) => {
    const wrong = judgeHostile({ ...RIGHT, ...changes });
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toMatch(said);
  });
});

it("the tables have a column for each protocol, and a sum", () => {
  const lines = tablesOf(RIGHT.summary).split("\n");
  expect(lines.map((line) => line.trim().replaceAll(/ {2,}/g, "|"))).toEqual([
    "inputs|h1|h3",
    "chunks|3|-",
    "qpack|-|5",
    "target|12|-",
    "all|15|5",
    "",
    "replies|h1|h3",
    "200|9|-",
    "400|6|-",
    "reset H3_MESSAGE_ERROR|-|5",
    "all|15|5",
  ]);
});
