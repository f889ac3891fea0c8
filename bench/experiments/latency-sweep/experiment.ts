import { defineLoads } from "../../harness/loads/define.ts";
import { seriesReport, seriesSummary } from "../../harness/loads/series.ts";
import { PUBLISHED_SWEEP } from "./published.ts";
import { returningValues, returningWays, WAYS } from "./returning.ts";
import { sweepReadings, sweepTable } from "./findings.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import type { Network, PlannedLoad } from "../../model/cell.ts";
import { type PlacedSeries, type Place, planSeries } from "../../model/series.ts";

const RATE_MBPS = 5;
const DELAYS_MS = [0, 50, 100, 150];

interface Size {
  readonly bytes: number;
  /** Loads of each protocol, as published. */
  readonly runs: number;
  /** Of the follow-ups. */
  readonly runsMore: number;
  readonly runsLong: number;
}

const SIZES: Readonly<Record<LoadOptions["size"], Size>> = {
  quick: { bytes: 100_000, runs: 5, runsMore: 2, runsLong: 2 },
  usual: { bytes: PUBLISHED_SWEEP.bytes, runs: 50, runsMore: 20, runsLong: 12 },
  full: { bytes: PUBLISHED_SWEEP.bytes, runs: 50, runsMore: 50, runsLong: 50 },
};

const plan = (flow: PlannedLoad["flow"], ...arms: readonly PlannedLoad["arm"][]): readonly PlannedLoad[] =>
  arms.map((arm) => ({ arm, flow }));
const RETRY = plan("download", "fixed-h2", "retry-h3");
/** What quic-go begins with, packets (initialCongestionWindow of its package congestion, 0.65). */
const QUIC_GO_WINDOW = 32;
/** So small that what counts is round trips. */
const RETURNING_BYTES = 10_000;
const DELAY = "delay, one way (ms)";

/** The published sweep (latency-sweep): 1 MB at 5 Mbit/s over delay; and what its author would have measured next. */
export function latencySweep({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { bytes: usualBytes, runs, runsMore, runsLong } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  const place = (
    name: string,
    delayMs: number,
    { network, ...rest }: Partial<Omit<Place, "network">> & { readonly network?: Partial<Network> } = {},
  ): Place => ({ imageBytes, rounds: runsMore, ...rest, network: { name, rateMbps: RATE_MBPS, delayMs, ...network } });

  const sweep = (delayMs: number): Place => place(`delay-${delayMs}`, delayMs, { rounds: runs });
  const halfAsFar = (delayMs: number): Place => place(`delay-${delayMs}`, delayMs);
  const overDelay = (of: (delayMs: number) => Place): PlacedSeries["points"] =>
    DELAYS_MS.map((delayMs) => [delayMs, of(delayMs)]);
  // So few that the quick run has its section too. Without delay there is no round trip to save.
  const returning = [50, 100, 150].map((delayMs) =>
    place(`returning-${delayMs}`, delayMs, {
      imageBytes: RETURNING_BYTES,
      loads: WAYS.map(({ arm, flow }) => ({ arm, flow })),
      rounds: Math.max(runsMore, 5),
    }),
  );
  const series: PlacedSeries[] = [
    { id: "delay", title: "The published sweep: over delay", axis: DELAY, points: overDelay(sweep) },
    {
      id: "rtt",
      title: "The other reading: the published delay as RTT",
      axis: "RTT (ms)",
      points: [
        [0, sweep(0)],
        [50, halfAsFar(25)],
        [100, sweep(50)],
        [150, halfAsFar(75)],
      ],
    },
    {
      id: "retry",
      title: "HTTP/3 with a Retry",
      axis: DELAY,
      points: overDelay((delayMs) => place(`retry-${delayMs}`, delayMs, { loads: RETRY })),
    },
    {
      id: "window",
      title: `HTTP/3 with a Retry, and TCP from ${QUIC_GO_WINDOW} packets`,
      axis: DELAY,
      points: overDelay((delayMs) =>
        place(`window-${delayMs}`, delayMs, { loads: RETRY, tcp: { initialWindow: QUIC_GO_WINDOW } }),
      ),
    },
    {
      id: "queue",
      title: "Shorter queues, delay 50 ms",
      axis: "queue (kB)",
      points: [
        ...[15, 30, 60, 120].map(
          (kB) => [kB, place(`queue-${kB}`, 50, { network: { queueBytes: kB * 1000 } })] as const,
        ),
        [1500, sweep(50)],
      ],
    },
    {
      id: "buffer",
      title: "The client's UDP receive buffer, delay 50 ms",
      axis: "UDP receive buffer (KiB)",
      points: [
        ...[208, 416, 2_048].map(
          (KiB) => [KiB, place(`buffer-${KiB}`, 50, { udpReceiveBufferBytes: KiB * 1_024 })] as const,
        ),
        [7168, sweep(50)],
      ],
    },
    {
      id: "files",
      title: "Ten files in parallel",
      axis: DELAY,
      points: overDelay((delayMs) =>
        place(`files-${delayMs}`, delayMs, {
          imageBytes: Math.round(imageBytes / 10),
          images: 10,
          loads: plan("trained", "fixed-h2", "fixed-h3"),
        }),
      ),
    },
    ...[0, 50, 150].map((delayMs): PlacedSeries => ({
      id: `loss-${delayMs}`,
      title: `Loss, delay ${delayMs} ms`,
      axis: "loss (%)",
      points: [
        [0, sweep(delayMs)],
        ...[1, 5, 10].map(
          (percent) =>
            [
              percent,
              place(`loss-${percent}-${delayMs}`, delayMs, { network: { lossRatio: percent / 100 }, rounds: runsLong }),
            ] as const,
        ),
      ],
    })),
    ...[0, 50, 150].map((delayMs): PlacedSeries => ({
      id: `size-${delayMs}`,
      title: `Size, delay ${delayMs} ms`,
      axis: "size (kB)",
      points: [...new Set([10_000, 100_000, 10_000_000, imageBytes])]
        .toSorted((one, other) => one - other)
        .map((own) => {
          const rounds = own > imageBytes ? runsLong : runsMore;
          const name = `size-${own / 1000}k-${delayMs}`;
          return [own / 1000, own === imageBytes ? sweep(delayMs) : place(name, delayMs, { imageBytes: own, rounds })];
        }),
    })),
  ];
  return {
    about:
      "1 MB at 5 Mbit/s over delay, as published; and over loss, size, queue, ten files in parallel, and resumed sessions",
    loads: plan("download", "fixed-h2", "fixed-h3"),
    ...planSeries(series, returning, congestions, size === "quick"),
    allocation: { first: runsMore, cap: runsMore, comparisons: [] },
    timeoutMs: 180_000,
    notes: [
      "A load is timed from connection setup to the last byte.",
      ...(size === "usual"
        ? [
            `The sweep has the published ${runs} loads of each protocol; the follow-ups have ${runsMore}, those with loss and those of 10 MB ${runsLong}, as one of them takes up to a minute. \`--full\` makes ${runs} of each.`,
          ]
        : []),
    ],
  };
}

export const experiment = defineLoads({
  plan: latencySweep,
  summarise: (recorded) => {
    const { cells } = seriesSummary(recorded);
    return { cells, sweep: sweepReadings(recorded, cells), returning: returningWays(recorded) };
  },
  report: (summary, recorded) => {
    const { values, pictures } = seriesReport(summary.cells, recorded, PUBLISHED_SWEEP);
    return {
      values: { ...values, sweep: sweepTable(summary.sweep), returning: returningValues(summary.returning) },
      pictures,
    };
  },
});
