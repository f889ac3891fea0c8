import { meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import type { Recorded } from "../../harness/experiment.ts";
import { SETTINGS } from "./measure.ts";
import type { MemoryRow } from "./row.ts";

const MIB = 1024 * 1024;
const KIB = 1024;
/** What orders and resamples are drawn from. */
export const SEED = 1;
const PROTOCOLS = ["h2", "h3"] as const;

export type MemorySummary = ReturnType<typeof memorySummary>;
export type CrowdFigures = MemorySummary["crowds"][number];

type Peak = "edgePeakBytes" | "serverPeakBytes" | "clientPeakBytes";

/** Of a run that is complete: every crowd over both protocols in every round. */
export function memorySummary(
  { rows, command, starts }: Pick<Recorded<unknown, MemoryRow>, "rows" | "command" | "starts">,
  rounds: number,
) {
  const sizes = [...new Set(rows.map(({ clients }) => clients))].toSorted((one, other) => one - other);
  const [least = 0, most = 0] = [sizes[0], sizes.at(-1)];
  const of = (protocol: "h2" | "h3", clients: number): MemoryRow[] =>
    rows
      .filter((row) => row.protocol === protocol && row.clients === clients)
      .toSorted((one, other) => one.round - other.round);
  /** Crowds of one size over one protocol: means over rounds of the peaks, with 95 % intervals. */
  const crowds = sizes.flatMap((clients) =>
    PROTOCOLS.map((protocol) => {
      const own = of(protocol, clients);
      const random = seededRandom(SEED, "memory", protocol, clients);
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
        /** The edge and the kernel's part together, at one moment. */
        serverMiB: peak("serverPeakBytes"),
        clientMiB: peak("clientPeakBytes"),
        /** Alone, without an interval: it may be nothing. */
        socketsMiB: mean(own.map(({ socketPeakBytes }) => socketPeakBytes / MIB)),
      };
    }),
  );
  /** What a client more takes: the largest crowd's peak less the smallest's of the same round, by the clients between. */
  const perClient = PROTOCOLS.map((protocol) => {
    const [few, many] = [of(protocol, least), of(protocol, most)];
    const random = seededRandom(SEED, "memory", protocol, "a client more");
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
  /** HTTP/3's peak over HTTP/2's in the largest crowd. */
  const ratio = (field: Peak) => {
    const peaks = (protocol: "h2" | "h3"): number[] => of(protocol, most).map((row) => row[field]);
    return ratioOfMeansInterval(peaks("h3"), peaks("h2"), { random: seededRandom(SEED, "memory", "ratio", field) });
  };
  const ratios = { edgeRatio: ratio("edgePeakBytes"), serverRatio: ratio("serverPeakBytes") };
  return { command, starts, rounds, ...SETTINGS, crowds, perClient, ...ratios };
}
