import { type Interval, meanInterval, ratioOfMeansInterval } from "../stats/bootstrap.ts";
import { seededRandom } from "../stats/random.ts";
import type { MemoryRow } from "./row.ts";

const MIB = 1024 * 1024;
const KIB = 1024;

/** Crowds of one size over one protocol: means over rounds, with 95 % intervals, MiB. */
export interface CrowdFigures {
  readonly protocol: "h2" | "h3";
  readonly clients: number;
  readonly n: number;
  readonly seconds: number;
  readonly edgeMiB: Interval;
  readonly clientMiB: Interval;
  readonly socketsMiB: Interval;
}

/** What a client more takes, KiB: (the largest crowd's peak - the smallest's) / the clients between. */
export interface PerClient {
  readonly protocol: "h2" | "h3";
  readonly edgeKiB: number;
  readonly clientKiB: number;
  readonly socketsKiB: number;
}

export interface MemorySummary {
  readonly crowds: readonly CrowdFigures[];
  readonly perClient: readonly PerClient[];
  /** HTTP/3's peak of the edge over HTTP/2's, in the largest crowd. */
  readonly edgeRatio: Interval | undefined;
}

export function memorySummary(rows: readonly MemoryRow[], seed: number): MemorySummary {
  const crowds = [...Map.groupBy(rows, ({ protocol, clients }) => `${protocol}/${clients}`).values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const random = seededRandom(seed, "memory", first.protocol, String(first.clients));
    const of = (field: "edgePeakBytes" | "clientPeakBytes" | "socketPeakBytes"): Interval =>
      // A socket may take nothing that lasts until a look; the mean is of a logarithm's bootstrap.
      meanInterval(
        own.map((row) => Math.max(row[field], KIB) / MIB),
        { random },
      );
    return [
      {
        protocol: first.protocol,
        clients: first.clients,
        n: own.length,
        seconds: own.reduce((sum, row) => sum + row.seconds / own.length, 0),
        edgeMiB: of("edgePeakBytes"),
        clientMiB: of("clientPeakBytes"),
        socketsMiB: of("socketPeakBytes"),
      },
    ];
  });
  crowds.sort((one, other) => one.clients - other.clients || one.protocol.localeCompare(other.protocol));
  const perClient = (["h2", "h3"] as const).flatMap((protocol) => {
    const own = crowds.filter((crowd) => crowd.protocol === protocol);
    const [least, most] = [own[0], own.at(-1)];
    if (least === undefined || most === undefined || least === most) return [];
    const slope = (of: "edgeMiB" | "clientMiB" | "socketsMiB"): number =>
      ((most[of].estimate - least[of].estimate) * KIB) / (most.clients - least.clients);
    return [{ protocol, edgeKiB: slope("edgeMiB"), clientKiB: slope("clientMiB"), socketsKiB: slope("socketsMiB") }];
  });
  const largest = Math.max(0, ...crowds.map(({ clients }) => clients));
  const peaks = (protocol: "h2" | "h3"): number[] =>
    rows
      .filter((row) => row.protocol === protocol && row.clients === largest)
      .map(({ edgePeakBytes }) => edgePeakBytes);
  const [h2, h3] = [peaks("h2"), peaks("h3")];
  return {
    crowds,
    perClient,
    edgeRatio:
      Math.min(h2.length, h3.length) < 2
        ? undefined
        : ratioOfMeansInterval(h3, h2, { random: seededRandom(seed, "memory", "ratio") }),
  };
}
