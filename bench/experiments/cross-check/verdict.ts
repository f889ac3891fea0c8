import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean, median, sd } from "../../analysis/statistics/summary.ts";
import { counts, type CrossRow } from "./row.ts";
import type { Client, CrossProtocol } from "./settings.ts";

/** A ratio this near to 1 is agreement even where its interval is too narrow to hold 1. */
const NEAR = 0.05;

/** The load times of one client. */
export interface Sample {
  readonly n: number;
  readonly meanMs: Interval;
  readonly medianMs: number;
  /** sd / mean. */
  readonly cv: number;
  /** Means of the parts of a load: to the handshake's end, on to the response's header, on to the last byte. */
  readonly handshakeMs: number;
  readonly requestMs: number;
  readonly bodyMs: number;
  readonly clientCpuMs: number;
  /** Means of packets a load. */
  readonly packetsUp: number;
  readonly packetsDown: number;
  /** Loads that the machine spoiled, and loads that failed. */
  readonly dropped: number;
  readonly failed: number;
}

/** What the two clients of one setting and protocol say of each other. */
export interface Finding {
  readonly setting: string;
  readonly protocol: CrossProtocol;
  readonly ours: Sample;
  readonly theirs: Sample;
  /** Mean of theirs / mean of ours, with its 95 % interval. */
  readonly ratio: Interval;
  /** `short`: too few loads count to say anything. */
  readonly verdict: "agrees" | "differs" | "short";
  /** Whether the mean of theirs lies in the 95 % interval of ours. */
  readonly withinOurs: boolean;
}

export function findingOf(setting: string, protocol: CrossProtocol, rows: readonly CrossRow[], seed: number): Finding {
  const own = rows.filter((row) => row.setting === setting && row.protocol === protocol);
  const timesOf = (client: Client): number[] =>
    own.filter((row) => row.client === client && counts(row)).map(({ loadMs }) => loadMs);
  const random = (what: string) => seededRandom(seed, "bootstrap", setting, protocol, what);
  const sample = (client: Client): Sample => {
    const rowsOfClient = own.filter((row) => row.client === client);
    const good = rowsOfClient.filter(counts);
    const times = timesOf(client);
    const meanOf = (pick: (row: CrossRow) => number): number => mean(good.map(pick));
    return {
      n: times.length,
      meanMs: meanInterval(times, { random: random(client) }),
      medianMs: median(times),
      cv: sd(times) / mean(times),
      handshakeMs: meanOf(({ handshakeMs }) => handshakeMs),
      requestMs: meanOf(({ handshakeMs, ttfbMs }) => ttfbMs - handshakeMs),
      bodyMs: meanOf(({ ttfbMs, loadMs }) => loadMs - ttfbMs),
      clientCpuMs: meanOf(({ clientCpuMs }) => clientCpuMs),
      packetsUp: meanOf(({ packetsUp }) => packetsUp),
      packetsDown: meanOf(({ packetsDown }) => packetsDown),
      dropped: rowsOfClient.filter(({ outcome, dropped }) => outcome === "ok" && dropped !== "").length,
      failed: rowsOfClient.filter(({ outcome }) => outcome !== "ok").length,
    };
  };
  const ours = sample("ours");
  const theirs = sample("theirs");
  const ratio = ratioOfMeansInterval(timesOf("theirs"), timesOf("ours"), { random: random("ratio") });
  return {
    setting,
    protocol,
    ours,
    theirs,
    ratio,
    verdict: ours.n < 2 || theirs.n < 2 ? "short" : agrees(ratio) ? "agrees" : "differs",
    withinOurs: theirs.meanMs.estimate >= ours.meanMs.low && theirs.meanMs.estimate <= ours.meanMs.high,
  };
}

/** Whether a ratio of means is no evidence of a difference that matters. */
export function agrees({ estimate, low, high }: Interval): boolean {
  return (low <= 1 && high >= 1) || Math.abs(estimate - 1) <= NEAR;
}
