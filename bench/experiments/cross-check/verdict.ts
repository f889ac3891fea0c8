import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { type Random, seededRandom } from "../../analysis/statistics/random.ts";
import { mean, median, sd } from "../../analysis/statistics/summary.ts";
import { counts, type CrossRow } from "./row.ts";
import type { Client, CrossProtocol } from "./settings.ts";

/** A ratio this near to 1 is agreement even where its interval is too narrow to hold 1. */
const NEAR = 0.05;

/** The load times of one client. */
export type Sample = ReturnType<typeof sampleOf>;

/** What the two clients of one setting and protocol say of each other. */
export type Finding = ReturnType<typeof findingOf>;

export function findingOf(setting: string, protocol: CrossProtocol, rows: readonly CrossRow[], seed: number) {
  const own = rows.filter((row) => row.setting === setting && row.protocol === protocol);
  const of = (client: Client): CrossRow[] => own.filter((row) => row.client === client);
  const random = (what: string) => seededRandom(seed, "bootstrap", setting, protocol, what);
  const [ours, theirs] = [sampleOf(of("ours"), random("ours")), sampleOf(of("theirs"), random("theirs"))];
  // Mean of theirs over mean of ours.
  const ratio = ratioOfMeansInterval(timesOf(of("theirs")), timesOf(of("ours")), { random: random("ratio") });
  // `short`: too few loads count to say anything.
  const verdict = Math.min(ours.n, theirs.n) < 2 ? "short" : agrees(ratio) ? "agrees" : "differs";
  return { setting, protocol, ours, theirs, ratio, verdict };
}

function sampleOf(rows: readonly CrossRow[], random: Random) {
  const good = rows.filter(counts);
  const times = timesOf(rows);
  const meanOf = (pick: (row: CrossRow) => number): number => mean(good.map(pick));
  return {
    n: times.length,
    meanMs: meanInterval(times, { random }),
    medianMs: median(times),
    /** sd / mean. */
    cv: sd(times) / mean(times),
    /** Means of the parts of a load: to the handshake's end, on to the response's header, on to the last byte. */
    handshakeMs: meanOf(({ handshakeMs }) => handshakeMs),
    requestMs: meanOf(({ handshakeMs, ttfbMs }) => ttfbMs - handshakeMs),
    bodyMs: meanOf(({ ttfbMs, loadMs }) => loadMs - ttfbMs),
    clientCpuMs: meanOf(({ clientCpuMs }) => clientCpuMs),
    /** Means of packets a load. */
    packetsUp: meanOf(({ packetsUp }) => packetsUp),
    packetsDown: meanOf(({ packetsDown }) => packetsDown),
    /** Loads that the machine spoiled, and loads that failed. */
    dropped: rows.filter(({ outcome, dropped }) => outcome === "ok" && dropped !== "").length,
    failed: rows.filter(({ outcome }) => outcome !== "ok").length,
  };
}

function timesOf(rows: readonly CrossRow[]): number[] {
  return rows.filter(counts).map(({ loadMs }) => loadMs);
}

/** Whether a ratio of means is no evidence of a difference that matters. */
export function agrees({ estimate, low, high }: Interval): boolean {
  return (low <= 1 && high >= 1) || Math.abs(estimate - 1) <= NEAR;
}
