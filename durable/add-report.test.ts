import { describe, expect, it } from "vitest";
import { NOON_MS, sample } from "../policy-api/decision/testing.ts";
import { outcomeOf, type PageNews } from "../policy-api/visitors/page-outcome.ts";
import { askedPage, pageNews, pageReport } from "../policy-api/visitors/testing-pages.ts";
import { type Added, addReport, type Known, newsSince } from "./add-report.ts";
import type { ClientReport } from "./client-report.ts";
import { EMPTY_ROW } from "./path-row.ts";

const NOBODY: Known = {
  row: EMPTY_ROW,
  waiting: [],
  timesBefore: () => undefined,
};
const report = (over: Partial<ClientReport> = {}): ClientReport => ({
  client: "c1",
  network: "n1",
  samples: [],
  answers: [],
  ...over,
});
const add = (over: Partial<ClientReport>, known: Partial<Known> = {}, nowMs = NOON_MS): Added =>
  addReport(report(over), { ...NOBODY, ...known }, nowMs);
/** What is known after a report. */
const after = ({ row, waiting }: Added): Partial<Known> => ({ row, waiting });
const counted = (packetsSent: number, atMs = NOON_MS) => sample({ atMs, packetsSent, packetsLost: 0 });
const asked = (nonce: string, over: Parameters<typeof askedPage>[1] = {}) =>
  askedPage(nonce, { arm: "offer", position: "next", atMs: NOON_MS, ...over });
const reported = ({ nonce, ...of }: ReturnType<typeof asked>): PageNews =>
  pageNews(nonce, { outcome: outcomeOf(of, pageReport({ loadMs: 700 }), { transport: of.transport }) });

describe("a report about a client", () => {
  it("says when it came, and which network it is of", () => {
    expect(add({})).toMatchObject({ row: { lastAtMs: NOON_MS, network: "n1" }, mustWrite: false });
  });

  it("adds what its connections showed, in the order in which it was read", () => {
    const { row, mustWrite } = add({ samples: [counted(1_010, NOON_MS + 1), counted(1_000)] });
    expect(row.client.connections).toMatchObject([{ packetsSent: 1_010, atMs: NOON_MS + 1 }]);
    expect(mustWrite).toBe(false);
  });
});

describe("pages in a report", () => {
  it("count once, whichever of decision and report comes first, and must be written with what they change", () => {
    const page = asked("a");
    const both = add({ decided: [page], pages: [reported(page)] });
    expect(both).toMatchObject({ mustWrite: true, refused: { replayed: 0, crowded: 0 } });
    expect(both.row.assigned?.rows["all"]).toMatchObject({ decided: 1, load: { pages: 1 } });
    const again = add({ decided: [page], pages: [reported(page)] }, after(both));
    expect(again).toMatchObject({ mustWrite: false, refused: { replayed: 1, crowded: 0 } });
    expect(again.row.assigned).toBe(both.row.assigned);
  });

  it("wait as one change while the client's period, version and arm last", () => {
    const first = add({ decided: [asked("a")] });
    const { waiting } = add({ pages: [reported(asked("b"))] }, after(first));
    expect(waiting).toHaveLength(1);
    expect(waiting[0]).toMatchObject({ before: undefined, times: [{ loadMs: 700 }] });
    expect(waiting[0]?.after.rows["all"]?.decided).toBe(2);
  });

  it("wait beside what the client did under another version, which stays", () => {
    const first = add({ decided: [asked("a")] });
    const { row, waiting } = add({ decided: [asked("b", { policyVersion: 4, atMs: NOON_MS + 1 })] }, after(first));
    expect(waiting.map(({ before, after: one }) => [before?.version, one.version])).toEqual([
      [undefined, 3],
      [3, 4],
    ]);
    expect(row.assigned).toBe(waiting[1]?.after);
  });

  it("expect what pages of the client's RTT took before", () => {
    const page = asked("a", { rttMs: 50 });
    const keys: string[] = [];
    add({ pages: [reported(page)] }, { timesBefore: (key) => void keys.push(key) });
    expect(keys).toEqual(["rtt/2"]);
  });
});

describe("newsSince", () => {
  const [old, fresh] = [{ atMs: 5 }, { atMs: 6 }];
  const of = ({ atMs }: { atMs: number }): ClientReport => {
    const page = asked(`n${atMs}`, { atMs });
    const answers = [{ origin: "o", atMs, offerUntilMs: 0 }];
    return report({ samples: [sample({ atMs })], answers, decided: [page], pages: [reported(page)] });
  };
  const joined = (a: ClientReport, b: ClientReport): ClientReport => ({
    ...a,
    samples: [...a.samples, ...b.samples],
    answers: [...a.answers, ...b.answers],
    decided: [...(a.decided ?? []), ...(b.decided ?? [])],
    pages: [...(a.pages ?? []), ...(b.pages ?? [])],
  });

  it("is all of it where nothing was forgotten, else what is newer, and nothing where nothing is", () => {
    const both = joined(of(old), of(fresh));
    expect(newsSince(both, undefined)).toBe(both);
    expect(newsSince(both, 5)).toEqual(of(fresh));
    expect(newsSince(both, 6)).toBeUndefined();
  });
});
