import { describe, expect, it } from "vitest";
import { exampleStart } from "../../harness/loads/testing.ts";
import { missing } from "../../harness/missing.ts";
import { reportText } from "../../harness/run.ts";
import type { PathStats } from "../../lab/path.ts";
import { NOTHING_COUNTED } from "../../lab/testing.ts";
import type { LoadResult } from "../../model/plan.ts";
import { placesOf, runsOf } from "./experiment.ts";
import { fairnessReport, fairnessSummary } from "./report.ts";
import { type FairnessRow, type FairRun, rowOf } from "./row.ts";

const PLACES = placesOf(false);
const COUNTED_MS = 10_000;

const reading = (bToA: Partial<PathStats["bToA"]>): PathStats => ({
  aToB: NOTHING_COUNTED,
  bToA: { ...NOTHING_COUNTED, ...bToA },
});

/** A flow that got so much in the time that counts. */
function flow(mbps: number, lastProtocol: "h2" | "h3" = "h2", given: Partial<LoadResult> = {}): LoadResult {
  const bytes = (mbps * 1_000 * COUNTED_MS) / 8;
  return { startedMs: 1e12, outcome: "timeout", error: "", lastProtocol, bytes, ...given } as LoadResult;
}

/** A run of which the newcomer takes this share of the rate, and a fair share's hundredth more or less. */
function row(run: FairRun, share: number, given: { busyRatio?: number; latePackets?: number } = {}): FairnessRow {
  const { rateMbps, others } = run.place;
  const own = rateMbps * share * (1 + run.round / 100);
  const protocol = run.sender === "cubic" || run.sender === "bbr" ? "h2" : "h3";
  const theirs = Array.from({ length: others }, () =>
    flow((rateMbps - own) / others, "h2", { startedMs: 1e12 + 2_000 }),
  );
  const after = reading({ forwardedPackets: 990, droppedQueue: 10, latePackets: given.latePackets ?? 0 });
  const path = { before: reading({}), after, waitingBytes: [0, 25_000, 50_000] };
  return rowOf(run, COUNTED_MS, [flow(own, protocol)], theirs, path, given.busyRatio ?? 0.5);
}

const summaryOf = (rows: readonly FairnessRow[]) =>
  fairnessSummary({ rows, command: "npm run bench -- fairness", starts: [exampleStart()] }, PLACES);

describe("runs", () => {
  it("have each place and newcomer once in a round, and go on where the rows end", () => {
    const all = runsOf(PLACES, 2);
    expect(all).toHaveLength(2 * PLACES.length * 5);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const made = all.slice(0, 10).map((run) => row(run, 0.5));
    expect(missing(all, made)).toEqual(all.slice(10));
  });
});

describe("a row", () => {
  const run = runsOf(PLACES, 1).find(({ sender }) => sender === "quic-go");
  if (run === undefined) throw new Error("There is a run.");
  const watched = { before: reading({}), after: reading({ forwardedPackets: 100 }), waitingBytes: [0] };

  it("has both sides' goodput, what waits, and what is lost", () => {
    const { rateMbps } = run.place;
    const made = row(run, 0.25);
    expect(made).toMatchObject({ outcome: "ok", dropped: "", aheadMs: 2_000, lostRatio: 0.01 });
    expect(made.ownMbps).toBeCloseTo(rateMbps / 4);
    expect(made.othersMbps).toBeCloseTo((rateMbps * 3) / 4);
    expect(made.queueMs).toBeCloseTo(200 / rateMbps);
  });

  it.each([
    ["a flow that ended by itself", flow(1, "h3", { outcome: "failed", error: "reset" }), flow(1)],
    ["a flow over another protocol", flow(1, "h2"), flow(1)],
    ["one of the others that ended", flow(1, "h3"), flow(1, "h2", { outcome: "ok" })],
  ])("failed: %s", (_name, own, theirs) => {
    expect(rowOf(run, COUNTED_MS, [own], [theirs], watched, 0.5).outcome).toBe("failed");
  });
});

describe("the summary", () => {
  /** bbr takes three times a fair share of two flows, the others their own. */
  const rows = runsOf(PLACES, 5).map((run) => row(run, (run.sender === "bbr" ? 1.5 : 1) / (run.place.others + 1)));
  const { places, counted } = summaryOf(rows);

  it("says what each takes, and what the others keep", () => {
    expect(counted).toBe(rows.length);
    expect(places).toHaveLength(PLACES.length * 5);
    for (const { sender, others, n, share, kept, loadedRttMs, rttMs } of places) {
      expect(n).toBe(5);
      expect(loadedRttMs).toBeGreaterThan(rttMs);
      expect(share?.estimate).toBeCloseTo(sender === "bbr" ? 1.53 : 1.02, 2);
      if (sender === "cubic") expect(kept).toBeUndefined();
      else expect(kept?.estimate).toBeCloseTo(sender === "bbr" ? (others + 1 - 1.53) / (others + 1 - 1.02) : 1, 2);
    }
  });

  it("leaves out what the machine spoiled", () => {
    const spoiled = rows.map((one, i) => ({ ...one, dropped: i % 2 === 0 ? ("busy" as const) : ("" as const) }));
    expect(summaryOf(spoiled).counted).toBe(Math.floor(rows.length / 2));
    const [run] = runsOf(PLACES, 1);
    if (run === undefined) throw new Error("There is a run.");
    expect(row(run, 0.5, { busyRatio: 0.9 }).dropped).toBe("busy");
    expect(row(run, 0.5, { latePackets: 20 }).dropped).toBe("late");
  });

  it.each([
    ["all", rows],
    ["a single round", rows.filter(({ round }) => round === 0)],
    ["none", []],
  ])("makes a report: %s", (_name, given) => {
    const text = reportText("fairness", fairnessReport(summaryOf(given)));
    expect(text).toContain("kernel 6.0");
    expect(text).toMatch(/\| QUIC quiche, BBRv2 +\|/);
    expect(text).not.toMatch(/NaN|undefined|Infinity|null/);
  });

  it("names how many places are harmed", () => {
    const text = reportText("fairness", fairnessReport(summaryOf(rows))).replaceAll(/\s+/g, " ");
    expect(text).toContain("**TCP bbr** takes 1.53 to 1.53 of a fair share: more than that in 8 of 8 places");
    expect(text).toContain("are harmed in 8 places");
  });
});
