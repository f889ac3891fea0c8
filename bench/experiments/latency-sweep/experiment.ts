import { defineLoads } from "../../harness/loads/define.ts";
import { seriesReport, seriesSummary } from "../../harness/loads/series.ts";
import { PUBLISHED_SWEEP, returningTable, returningWays, sweepReadings, sweepTable, WAYS } from "./report.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import type { Network, PlannedLoad } from "../../model/cell.ts";
import { over, type Place, type PlacedSeries, planSeries } from "../../model/series.ts";

const RATE_MBPS = 5;
const DELAYS_MS = [0, 50, 100, 150];

/** Loads of each protocol: of the sweep, as published; of the follow-ups; and of those that take long. */
const SIZES = {
  quick: { usualBytes: 100_000, runs: 5, runsMore: 2, runsLong: 2 },
  usual: { usualBytes: PUBLISHED_SWEEP.bytes, runs: 50, runsMore: 20, runsLong: 12 },
  full: { usualBytes: PUBLISHED_SWEEP.bytes, runs: 50, runsMore: 50, runsLong: 50 },
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
  const { usualBytes, runs, runsMore, runsLong } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  const place = (
    name: string,
    delayMs: number,
    { network, ...rest }: Partial<Omit<Place, "network">> & { readonly network?: Partial<Network> } = {},
  ): Place => ({ imageBytes, rounds: runsMore, ...rest, network: { name, rateMbps: RATE_MBPS, delayMs, ...network } });

  const sweep = (delayMs: number): Place => place(`delay-${delayMs}`, delayMs, { rounds: runs });
  // So few that the quick run has its section too. Without delay there is no round trip to save.
  const loads = WAYS.map(({ arm, flow }) => ({ arm, flow }));
  const comingAgain = { imageBytes: RETURNING_BYTES, loads, rounds: Math.max(runsMore, 5) };
  const returning = [50, 100, 150].map((delayMs) => place(`returning-${delayMs}`, delayMs, comingAgain));
  const sizesKB = [...new Set([10, 100, 10_000, imageBytes / 1000])].toSorted((one, other) => one - other);
  const overDelay = (id: string, title: string, given: Parameters<typeof place>[2]): PlacedSeries => ({
    id,
    title,
    axis: DELAY,
    points: over(DELAYS_MS, (delayMs) => place(`${id}-${delayMs}`, delayMs, given)),
  });
  const afterRetry = `HTTP/3 with a Retry, and TCP from ${QUIC_GO_WINDOW} packets`;
  const parallel = {
    imageBytes: Math.round(imageBytes / 10),
    images: 10,
    loads: plan("trained", "fixed-h2", "fixed-h3"),
  };
  const series: PlacedSeries[] = [
    { id: "delay", title: "The published sweep: over delay", axis: DELAY, points: over(DELAYS_MS, sweep) },
    {
      id: "rtt",
      title: "The other reading: the published delay as RTT",
      axis: "RTT (ms)",
      // The sweep has every other of them.
      points: over(DELAYS_MS, (rttMs) =>
        rttMs % 100 === 0 ? sweep(rttMs / 2) : place(`delay-${rttMs / 2}`, rttMs / 2),
      ),
    },
    overDelay("retry", "HTTP/3 with a Retry", { loads: RETRY }),
    overDelay("window", afterRetry, { loads: RETRY, tcp: { initialWindow: QUIC_GO_WINDOW } }),
    {
      id: "queue",
      title: "Shorter queues, delay 50 ms",
      axis: "queue (kB)",
      points: [
        ...over([15, 30, 60, 120], (kB) => place(`queue-${kB}`, 50, { network: { queueBytes: kB * 1000 } })),
        [1500, sweep(50)],
      ],
    },
    {
      id: "buffer",
      title: "The client's UDP receive buffer, delay 50 ms",
      axis: "UDP receive buffer (KiB)",
      points: [
        ...over([208, 416, 2_048], (KiB) => place(`buffer-${KiB}`, 50, { udpReceiveBufferBytes: KiB * 1_024 })),
        [7168, sweep(50)],
      ],
    },
    overDelay("files", "Ten files in parallel", parallel),
    ...[0, 50, 150].map((delayMs): PlacedSeries => ({
      id: `loss-${delayMs}`,
      title: `Loss, delay ${delayMs} ms`,
      axis: "loss (%)",
      points: [
        [0, sweep(delayMs)],
        ...over([1, 5, 10], (percent) =>
          place(`loss-${percent}-${delayMs}`, delayMs, { network: { lossRatio: percent / 100 }, rounds: runsLong }),
        ),
      ],
    })),
    ...[0, 50, 150].map((delayMs): PlacedSeries => ({
      id: `size-${delayMs}`,
      title: `Size, delay ${delayMs} ms`,
      axis: "size (kB)",
      points: over(sizesKB, (kB) => {
        const [own, rounds] = [kB * 1000, kB * 1000 > imageBytes ? runsLong : runsMore];
        return own === imageBytes
          ? sweep(delayMs)
          : place(`size-${kB}k-${delayMs}`, delayMs, { imageBytes: own, rounds });
      }),
    })),
  ];
  return {
    switch: "wait",
    loads: plan("download", "fixed-h2", "fixed-h3"),
    ...planSeries(series, returning, congestions, size === "quick"),
    allocation: { first: runsMore, cap: runsMore, comparisons: [] },
    timeoutMs: 180_000,
    notes: [
      "A load is timed from connection setup to the last byte.",
      size === "usual" &&
        `The sweep has the published ${runs} loads of each protocol; the follow-ups have ${runsMore}, those with loss and those of 10 MB ${runsLong}, as one of them takes up to a minute. \`--full\` makes ${runs} of each.`,
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
      values: { ...values, sweep: sweepTable(summary.sweep), returning: returningTable(summary.returning) },
      pictures,
    };
  },
});
