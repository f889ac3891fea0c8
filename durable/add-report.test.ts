import { describe, expect, it } from "vitest";
import { addGiven, EMPTY_LEVEL, type LevelState, NO_MIX } from "../policy-api/decision/mix.ts";
import { NOON_MS, sample } from "../policy-api/decision/testing.ts";
import { outcomeOf, type PageNews } from "../policy-api/visitors/page-outcome.ts";
import { askedPage, pageNews, pageReport } from "../policy-api/visitors/testing-pages.ts";
import { type Added, addReport, type Known, newsSince } from "./add-report.ts";
import type { ClientReport } from "./client-report.ts";
import { EMPTY_ROW } from "./path-row.ts";

const NOBODY: Known = {
  row: EMPTY_ROW,
  waiting: [],
  level: () => undefined,
  timesBefore: () => undefined,
  networkForgottenAtMs: undefined,
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
const after = ({ row, waiting, levels }: Added): Partial<Known> => {
  const byKey = new Map<string, LevelState>(levels);
  return { row, waiting, level: (key) => byKey.get(key) };
};
const clients = (level: LevelState | undefined): number =>
  (level?.mix.clients ?? []).reduce((sum, share) => sum + share, 0);
const counted = (packetsSent: number, atMs = NOON_MS) => sample({ atMs, packetsSent, packetsLost: 0 });
const asked = (nonce: string, over: Parameters<typeof askedPage>[1] = {}) =>
  askedPage(nonce, { arm: "offer", position: "next", atMs: NOON_MS, ...over });
const reported = ({ nonce, ...of }: ReturnType<typeof asked>): PageNews =>
  pageNews(nonce, { outcome: outcomeOf(of, pageReport({ loadMs: 700 }), { transport: of.transport }) });

describe("a report about a client", () => {
  it("says when it came, and which network it is of", () => {
    expect(add({})).toMatchObject({ row: { lastAtMs: NOON_MS, network: "n1" }, levels: [], mustWrite: false });
  });

  it("gives to the network, the autonomous system and the site, whose rows must go with the client's", () => {
    const { row, levels, mustWrite } = add({ samples: [counted(1_000)], asn: 64_500 });
    expect(levels.map(([key]) => key)).toEqual(["network n1", "asn 64500", "site"]);
    for (const [, level] of levels) expect(level.mix).toEqual(row.client.given);
    expect(mustWrite).toBe(true);
  });

  it("gives nothing that is nothing new, and says that it gave nothing", () => {
    const first = add({ samples: [counted(1_000)] });
    const second = add({ samples: [counted(1_010, NOON_MS + 1)] }, after(first));
    expect([second.levels, second.mustWrite]).toEqual([[], false]);
    expect(second.row.client.given).toBe(first.row.client.given);
    expect(second.row.client.connections).toMatchObject([{ packetsSent: 1_010 }]);
  });

  it("gives all anew to a network that is not there any more, or that began since", () => {
    const { row } = add({ samples: [counted(1_000)] });
    for (const level of [undefined, { ...EMPTY_LEVEL, bornAtMs: NOON_MS + 1 }]) {
      const again = add({ samples: [counted(1_010, NOON_MS + 2)] }, { row, level: () => level }, NOON_MS + 2);
      expect(clients(again.levels[0]?.[1])).toBeCloseTo(1_010 / 1_210, 2);
    }
  });

  it("keeps for the client what is older than the time when its network was forgotten", () => {
    const networkForgottenAtMs = NOON_MS - 1;
    const old = add({ samples: [counted(1_000, NOON_MS - 2)] }, { networkForgottenAtMs });
    expect(old.row.client.connections).toMatchObject([{ packetsSent: 1_000 }]);
    expect(old.levels).toEqual([]);
  });

  it("gives what the network gave to nobody to an autonomous system whose number comes later", () => {
    const first = add({ samples: [counted(1_000)] });
    const second = add({ samples: [counted(100_000, NOON_MS + 1)], asn: 64_500 }, after(first));
    const asn = second.levels.find(([key]) => key === "asn 64500")?.[1];
    expect(asn?.mix.clients).toEqual(
      addGiven(NO_MIX, { before: NO_MIX, after: second.levels[0]?.[1].given ?? NO_MIX }).clients,
    );
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
