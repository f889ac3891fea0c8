import type { TopLevelSpec } from "vega-lite";
import { ARM_STYLES, figures, INTERVAL, look } from "../../analysis/charts/theme.ts";
import { meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, size, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { distinct, runValues } from "../../harness/machine.ts";
import { LINUX_TCP_BUFFERS } from "../../lab/namespace.ts";
import { float, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

export const PROTOCOLS = ["h2", "h3"] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** One crowd: so many clients that download at once, each over a connection of its own. Peaks are the most of all looks. */
export const MEMORY_ROW = {
  id: string(),
  protocol: string<Protocol>(),
  clients: float,
  round: float,
  startedMs: float,
  /** Of the crowd, from k6's start to its end. */
  seconds: float,
  /** Of the edge, which was new and had served nobody. */
  edgePeakBytes: float,
  /** What the kernel held for the server's sockets. */
  socketPeakBytes: float,
  /** Both at the same look. */
  serverPeakBytes: float,
  /** Of k6, with the sessions of all clients and a JavaScript runtime for each. */
  clientPeakBytes: float,
} as const satisfies RowSchema;

export type MemoryRow = RowOf<typeof MEMORY_ROW>;

export const SETTINGS = {
  bytes: 1_000_000,
  rateMbps: 100,
  delayMs: 25,
  queueBytes: 1_500_000,
  // As operators have them: with the bench's own each socket begins with room for 128 kB.
  tcpBuffers: LINUX_TCP_BUFFERS,
};
/** Between two looks. */
export const LOOK_EVERY_MS = 100;
/** What orders and resamples are drawn from. */
export const SEED = 1;
const KIB = 1_024;
const MIB = KIB * KIB;

export type MemorySummary = ReturnType<typeof memorySummary>;
type Peak = "edgePeakBytes" | "serverPeakBytes" | "clientPeakBytes";

/** Of a run that is complete: every crowd over both protocols in every round. */
export function memorySummary(
  { rows, command, starts }: Pick<Recorded<unknown, MemoryRow>, "rows" | "command" | "starts">,
  rounds: number,
) {
  const sizes = [...new Set(rows.map(({ clients }) => clients))].toSorted((one, other) => one - other);
  const [least = 0, most = 0] = [sizes[0], sizes.at(-1)];
  const of = (protocol: Protocol, clients: number): MemoryRow[] =>
    rows
      .filter((row) => row.protocol === protocol && row.clients === clients)
      .toSorted((one, other) => one.round - other.round);
  /** Crowds of one size over one protocol: means over rounds of the peaks, with 95 % intervals. */
  const crowds = sizes.flatMap((clients) =>
    PROTOCOLS.map((protocol) => {
      const own = of(protocol, clients);
      const random = seededRandom(SEED, "memory", protocol, clients);
      const peaks = (field: Peak | "socketPeakBytes"): number[] => own.map((row) => row[field] / MIB);
      return {
        protocol,
        clients,
        n: own.length,
        seconds: mean(own.map(({ seconds }) => seconds)),
        edgeMiB: meanInterval(peaks("edgePeakBytes"), { random }),
        /** The edge and the kernel's part together, at one moment. */
        serverMiB: meanInterval(peaks("serverPeakBytes"), { random }),
        clientMiB: meanInterval(peaks("clientPeakBytes"), { random }),
        /** Alone, without an interval: it may be nothing. */
        socketsMiB: mean(peaks("socketPeakBytes")),
      };
    }),
  );
  /** What a client more takes: the largest crowd's peak less the smallest's of the same round, by the clients between. */
  const perClient = PROTOCOLS.map((protocol) => {
    const [few, many] = [of(protocol, least), of(protocol, most)];
    const random = seededRandom(SEED, "memory", protocol, "a client more");
    const slope = (field: Peak) => {
      const more = many.map((row, i) => row[field] - (few[i]?.[field] ?? Number.NaN));
      return meanInterval(
        more.map((bytes) => bytes / KIB / (most - least)),
        { random },
      );
    };
    const [edgeKiB, serverKiB] = [slope("edgePeakBytes"), slope("serverPeakBytes")];
    return { protocol, edgeKiB, serverKiB, clientKiB: slope("clientPeakBytes") };
  });
  /** HTTP/3's peak over HTTP/2's in the largest crowd. */
  const ratio = (field: Peak) => {
    const peaks = (protocol: Protocol): number[] => of(protocol, most).map((row) => row[field]);
    return ratioOfMeansInterval(peaks("h3"), peaks("h2"), { random: seededRandom(SEED, "memory", "ratio", field) });
  };
  const ratios = { edgeRatio: ratio("edgePeakBytes"), serverRatio: ratio("serverPeakBytes") };
  return { command, starts, rounds, ...SETTINGS, crowds, perClient, ...ratios };
}

export function memoryReport(summary: MemorySummary): Report {
  const { starts, rounds, rateMbps, delayMs, queueBytes, bytes, tcpBuffers } = summary;
  return {
    values: {
      ...runValues(summary),
      days: distinct(starts.map(({ at }) => at.slice(0, 10))),
      path: { rateMbps, delayMs, queue: size(queueBytes), bytes: size(bytes), sendBuffer: tcpBuffers.send },
      rounds,
      lookMs: LOOK_EVERY_MS,
      crowds: tableOf(summary.crowds, [
        ["clients at once", ({ clients }) => String(clients)],
        ["protocol", ({ protocol }) => protocol],
        ["n", ({ n }) => String(n)],
        ["the edge, MiB", ({ edgeMiB }) => withInterval(edgeMiB)],
        ["the kernel, its sockets, MiB", ({ socketsMiB }) => number(socketsMiB)],
        ["both at once, MiB", ({ serverMiB }) => withInterval(serverMiB)],
        ["all clients (k6), MiB", ({ clientMiB }) => withInterval(clientMiB)],
        ["seconds", ({ seconds }) => number(seconds)],
      ]),
      perClient: tableOf(summary.perClient, [
        ["a client more takes", ({ protocol }) => protocol],
        ["of the edge, KiB", ({ edgeKiB }) => withInterval(edgeKiB)],
        ["of edge and kernel, KiB", ({ serverKiB }) => withInterval(serverKiB)],
        ["of k6, KiB", ({ clientKiB }) => withInterval(clientKiB)],
      ]),
      ratios: { edge: withInterval(summary.edgeRatio), server: withInterval(summary.serverRatio) },
    },
    pictures: [{ file: "memory.svg", spec: pictureOf(summary) }],
  };
}

const PANELS = [
  { field: "edgeMiB", title: "the edge (MiB)" },
  { field: "serverMiB", title: "edge and kernel (MiB)" },
  { field: "clientMiB", title: "all clients (MiB)" },
] as const;

/** Panels side by side, a line for each protocol. */
function pictureOf({ crowds }: MemorySummary): TopLevelSpec {
  // The arms' looks, under the protocols' names.
  const { color, shape } = look("protocol", [
    { ...ARM_STYLES["fixed-h2"], name: "h2" },
    { ...ARM_STYLES["fixed-h3"], name: "h3" },
  ]);
  return {
    title: { text: "Peak memory over clients at once", subtitle: "Means of all rounds; bars: 95 % intervals." },
    spacing: 30,
    hconcat: PANELS.map(({ field, title }) => ({
      width: 190,
      height: 220,
      data: { values: crowds.map((crowd) => ({ clients: crowd.clients, protocol: crowd.protocol, ...crowd[field] })) },
      encoding: { x: figures("clients", { title: "clients at once" }), color },
      layer: [
        {
          mark: { type: "line" as const, strokeWidth: 1.5 },
          encoding: { y: figures("estimate", { title, scale: { zero: true } }) },
        },
        INTERVAL,
        {
          mark: { type: "point" as const, filled: true, size: 70, opacity: 1 },
          encoding: { y: figures("estimate"), shape },
        },
      ],
    })),
  };
}
