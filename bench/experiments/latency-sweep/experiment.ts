import { publishedBeside } from "../../analysis/loads/published-series.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import { seriesSections, seriesSummary } from "../../harness/loads/series.ts";
import { PUBLISHED_SWEEP } from "./published.ts";
import { returningValues, returningWays } from "./returning.ts";
import { sweepReadings, sweepValues } from "./findings.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import type { Network, PlannedLoad } from "../../model/cell.ts";
import { cellsOf, type Place, type Series } from "../../model/series.ts";

const RATE_MBPS = 5;
const DELAYS_MS = [0, 50, 100, 150] as const;
const PUBLISHED_BYTES = 1_000_000;

interface Size {
  readonly delaysMs: readonly number[];
  readonly bytes: number;
  /** Loads of each protocol, as published. */
  readonly runs: number;
  /** Of the follow-ups. */
  readonly runsMore: number;
  readonly runsLong: number;
}

const SIZES: Readonly<Record<LoadOptions["size"], Size>> = {
  quick: { delaysMs: [0, 50], bytes: 100_000, runs: 5, runsMore: 2, runsLong: 2 },
  usual: { delaysMs: DELAYS_MS, bytes: PUBLISHED_BYTES, runs: 50, runsMore: 20, runsLong: 12 },
  full: { delaysMs: DELAYS_MS, bytes: PUBLISHED_BYTES, runs: 50, runsMore: 50, runsLong: 50 },
};

const BOTH: readonly PlannedLoad[] = [
  { arm: "fixed-h2", flow: "download" },
  { arm: "fixed-h3", flow: "download" },
];
const RETRY: readonly PlannedLoad[] = [
  { arm: "fixed-h2", flow: "download" },
  { arm: "retry-h3", flow: "download" },
];
/** What quic-go begins with, packets (initialCongestionWindow of its package congestion, 0.65). */
const QUIC_GO_WINDOW = 32;
/** A client that was here before beside one that was not. */
const RETURNING: readonly PlannedLoad[] = [
  { arm: "fixed-h2", flow: "download" },
  { arm: "fixed-h2", flow: "resumed" },
  { arm: "fixed-h3", flow: "download" },
  { arm: "fixed-h3", flow: "resumed" },
  // What 0-RTT alone changes: the same edge, which accepts connections before their handshake is complete.
  { arm: "early-h3", flow: "resumed" },
  { arm: "early-h3", flow: "early" },
];
/** So small that what counts is round trips. */
const RETURNING_BYTES = 10_000;
const PAGES: readonly PlannedLoad[] = [
  { arm: "fixed-h2", flow: "trained" },
  { arm: "fixed-h3", flow: "trained" },
];

/** The published sweep (latency-sweep): 1 MB at 5 Mbit/s over delay; and what its author would have measured next. */
export function latencySweep({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { delaysMs, bytes: usualBytes, runs, runsMore, runsLong } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  const isQuick = size === "quick";
  const place = (
    name: string,
    delayMs: number,
    { network, ...rest }: Partial<Omit<Place, "network">> & { readonly network?: Partial<Network> } = {},
  ): Place => ({ imageBytes, rounds: runsMore, ...rest, network: { name, rateMbps: RATE_MBPS, delayMs, ...network } });

  const sweep = delaysMs.map((delayMs) => place(`delay-${delayMs}`, delayMs, { rounds: runs }));
  // Half as far: RTT 50 and 150 ms; RTT 100 ms is delay 50 of the sweep.
  const near = (isQuick ? [] : [25, 75]).map((delayMs) => place(`delay-${delayMs}`, delayMs));
  const files = delaysMs.map((delayMs) =>
    place(`files-${delayMs}`, delayMs, { imageBytes: Math.round(imageBytes / 10), images: 10, loads: PAGES }),
  );
  const queues = (isQuick ? [30] : [15, 30, 60, 120]).map((kB) =>
    place(`queue-${kB}`, 50, { network: { queueBytes: kB * 1000 } }),
  );
  const losses = isQuick ? [0.05] : [0.01, 0.05, 0.1];
  const lossDelays = isQuick ? [0] : [0, 50, 150];
  const lossy = lossDelays.flatMap((delayMs) =>
    losses.map((lossRatio) =>
      place(`loss-${lossRatio * 100}-${delayMs}`, delayMs, { network: { lossRatio }, rounds: runsLong }),
    ),
  );
  const otherBytes = isQuick ? [10_000] : [10_000, 100_000, 10_000_000];
  const sizeDelays = isQuick ? [50] : [0, 50, 150];
  const sized = sizeDelays.flatMap((delayMs) =>
    otherBytes
      .filter((other) => other !== imageBytes)
      .map((other) =>
        place(`size-${other / 1000}k-${delayMs}`, delayMs, {
          imageBytes: other,
          rounds: other > imageBytes ? runsLong : runsMore,
        }),
      ),
  );

  const buffers = (isQuick ? [208] : [208, 416, 2_048]).map((KiB) =>
    place(`buffer-${KiB}`, 50, { udpReceiveBufferBytes: KiB * 1_024 }),
  );

  const retry = delaysMs.map((delayMs) => place(`retry-${delayMs}`, delayMs, { loads: RETRY }));

  const sameWindow = delaysMs.map((delayMs) =>
    place(`window-${delayMs}`, delayMs, { loads: RETRY, tcp: { initialWindow: QUIC_GO_WINDOW } }),
  );

  // Without delay there is no round trip to save.
  const returning = delaysMs
    .filter((delayMs) => delayMs > 0)
    .map((delayMs) =>
      place(`returning-${delayMs}`, delayMs, {
        imageBytes: RETURNING_BYTES,
        loads: RETURNING,
        // So few that the quick run has its section too.
        rounds: Math.max(runsMore, 5),
      }),
    );

  const points = (places: readonly Place[], label: (place: Place) => string): Series["points"] =>
    places.map((one) => ({ label: label(one), network: one.network.name }));
  const byDelay = (places: readonly Place[]): Series["points"] =>
    points(places, ({ network }) => String(network.delayMs));
  const ofSweep = (delayMs: number): Place[] => sweep.filter(({ network }) => network.delayMs === delayMs);
  const series: Series[] = [
    {
      id: "delay",
      title: "The published sweep: over delay",
      about: "Delay is one way and meets both directions, so that the RTT is twice as long.",
      axis: "delay, one way (ms)",
      points: byDelay(sweep),
    },
    ...(isQuick
      ? []
      : [
          {
            id: "rtt",
            title: "The other reading: the published delay as RTT",
            about:
              "The source does not say whether its delay is one way or there and back. Here half of it is in each direction.",
            axis: "RTT (ms)",
            points: points([...ofSweep(0), ...near.slice(0, 1), ...ofSweep(50), ...near.slice(1)], ({ network }) =>
              String(2 * network.delayMs),
            ),
          },
        ]),
    {
      id: "retry",
      title: "HTTP/3 with a Retry",
      about:
        "A server that has every client prove its address first (RFC 9000, section 8.1.2): HTTP/3's handshake then takes two round trips, as TCP and TLS do. Whether the published server did so is not told.",
      axis: "delay, one way (ms)",
      points: byDelay(retry),
    },
    {
      id: "window",
      title: `HTTP/3 with a Retry, and TCP from ${QUIC_GO_WINDOW} packets`,
      about: `As above, and TCP's first window is as large as quic-go's: ${QUIC_GO_WINDOW} packets instead of 10 (RFC 6928). Published, both protocols grow alike from 50 ms on.`,
      axis: "delay, one way (ms)",
      points: byDelay(sameWindow),
    },
    {
      id: "queue",
      title: "Shorter queues, delay 50 ms",
      about:
        "The sweep's queue of 1.5 MB never overflows. A queue that does makes the sender's own slow start lose packets; 62 kB are what this path holds in an RTT.",
      axis: "queue (kB)",
      points: [
        ...points(queues, ({ network }) => String((network.queueBytes ?? 0) / 1000)),
        ...points(ofSweep(50), () => "1500"),
      ],
    },
    {
      id: "buffer",
      title: "The client's UDP receive buffer, delay 50 ms",
      about:
        "What the kernel keeps of a QUIC client's packets until they are read, as a program asks for it. quic-go's own is 7 MiB, where it may; 208 KiB is what Linux lets a program ask for by default (net.core.rmem_max). HTTP/2 has none: its loads are the same again.",
      axis: "UDP receive buffer (KiB)",
      points: [
        ...points(buffers, ({ udpReceiveBufferBytes = 0 }) => String(udpReceiveBufferBytes / 1_024)),
        ...points(ofSweep(50), () => "7168"),
      ],
    },
    {
      id: "files",
      title: "Ten files in parallel",
      about:
        "A small document, then ten files of a tenth of the size together: does it matter that QUIC's streams do not wait for each other?",
      axis: "delay, one way (ms)",
      points: byDelay(files),
    },
    ...lossDelays.map((delayMs) => ({
      id: `loss-${delayMs}`,
      title: `Loss, delay ${delayMs} ms`,
      about: "Random loss on the data's direction.",
      axis: "loss (%)",
      points: [
        ...points(ofSweep(delayMs), () => "0"),
        ...points(
          lossy.filter(({ network }) => network.delayMs === delayMs),
          ({ network }) => String((network.lossRatio ?? 0) * 100),
        ),
      ],
    })),
    ...sizeDelays.map((delayMs) => ({
      id: `size-${delayMs}`,
      title: `Size, delay ${delayMs} ms`,
      about: "The smaller the file, the more of its time is the handshake and the first round trips.",
      axis: "size (kB)",
      points: points(
        [...sized.filter(({ network }) => network.delayMs === delayMs), ...ofSweep(delayMs)].toSorted(
          (one, other) => one.imageBytes - other.imageBytes,
        ),
        (one) => String(one.imageBytes / 1000),
      ),
    })),
  ];
  return {
    about:
      "1 MB at 5 Mbit/s over delay, as published; and over loss, size, queue, ten files in parallel, and resumed sessions",
    loads: BOTH,
    ...cellsOf(
      [...sweep, ...near, ...queues, ...files, ...lossy, ...sized, ...buffers, ...retry, ...sameWindow, ...returning],
      congestions,
    ),
    series,
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
    const summary = seriesSummary(recorded);
    return { ...summary, sweep: sweepReadings(recorded, summary.cells), returning: returningWays(recorded) };
  },
  report: (summary) => {
    const published = publishedBeside(PUBLISHED_SWEEP, summary.cells);
    const { sections, pictures } = seriesSections(summary, published);
    return {
      values: { sections, ...sweepValues(summary, published), returning: returningValues(summary.returning) },
      pictures,
    };
  },
});
