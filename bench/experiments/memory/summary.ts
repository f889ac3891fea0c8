import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import type { MemoryRow } from "./row.ts";

const MIB = 1024 * 1024;
const KIB = 1024;
const PROTOCOLS = ["h2", "h3"] as const;

/** Crowds of one size over one protocol: means over rounds of the peaks, with 95 % intervals, MiB. */
export interface CrowdFigures {
  readonly protocol: "h2" | "h3";
  readonly clients: number;
  readonly n: number;
  readonly seconds: number;
  readonly edgeMiB: Interval;
  /** The edge and the kernel's part together, at one moment. */
  readonly serverMiB: Interval;
  readonly clientMiB: Interval;
  /** Alone, without an interval: it may be nothing. */
  readonly socketsMiB: number;
}

/** What a client more takes, KiB: the largest crowd's peak less the smallest's of the same round, by the clients between. */
export interface PerClient {
  readonly protocol: "h2" | "h3";
  readonly edgeKiB: Interval;
  readonly serverKiB: Interval;
  readonly clientKiB: Interval;
}

export interface MemorySummary {
  readonly crowds: readonly CrowdFigures[];
  readonly perClient: readonly PerClient[];
  /** HTTP/3's peak over HTTP/2's in the largest crowd: of the edge, and of edge and kernel together. */
  readonly edgeRatio: Interval;
  readonly serverRatio: Interval;
}

type Peak = "edgePeakBytes" | "serverPeakBytes" | "clientPeakBytes";

/** @param rows of a run that is complete: every crowd over both protocols in every round */
export function memorySummary(rows: readonly MemoryRow[], seed: number): MemorySummary {
  const sizes = [...new Set(rows.map(({ clients }) => clients))].toSorted((one, other) => one - other);
  const [least = 0, most = 0] = [sizes[0], sizes.at(-1)];
  const of = (protocol: "h2" | "h3", clients: number): MemoryRow[] =>
    rows
      .filter((row) => row.protocol === protocol && row.clients === clients)
      .toSorted((one, other) => one.round - other.round);
  const crowds = sizes.flatMap((clients) =>
    PROTOCOLS.map((protocol) => {
      const own = of(protocol, clients);
      const random = seededRandom(seed, "memory", protocol, clients);
      const peak = (field: Peak) =>
        meanInterval(
          own.map((row) => row[field] / MIB),
          { random },
        );
      return {
        protocol,
        clients,
        n: own.length,
        seconds: mean(own.map(({ seconds }) => seconds)),
        edgeMiB: peak("edgePeakBytes"),
        serverMiB: peak("serverPeakBytes"),
        clientMiB: peak("clientPeakBytes"),
        socketsMiB: mean(own.map(({ socketPeakBytes }) => socketPeakBytes / MIB)),
      };
    }),
  );
  const perClient = PROTOCOLS.map((protocol) => {
    const [few, many] = [of(protocol, least), of(protocol, most)];
    const random = seededRandom(seed, "memory", protocol, "a client more");
    const slope = (field: Peak) =>
      meanInterval(
        many.map((row, i) => (row[field] - (few[i]?.[field] ?? Number.NaN)) / KIB / (most - least)),
        { random },
      );
    return {
      protocol,
      edgeKiB: slope("edgePeakBytes"),
      serverKiB: slope("serverPeakBytes"),
      clientKiB: slope("clientPeakBytes"),
    };
  });
  const ratio = (field: Peak): Interval => {
    const peaks = (protocol: "h2" | "h3"): number[] => of(protocol, most).map((row) => row[field]);
    return ratioOfMeansInterval(peaks("h3"), peaks("h2"), { random: seededRandom(seed, "memory", "ratio", field) });
  };
  return { crowds, perClient, edgeRatio: ratio("edgePeakBytes"), serverRatio: ratio("serverPeakBytes") };
}
