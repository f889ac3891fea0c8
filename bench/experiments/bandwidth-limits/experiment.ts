import { defineLoads } from "../../harness/loads/define.ts";
import { seriesReport, seriesSummary } from "../../harness/loads/series.ts";
import { PUBLISHED_LIMITS } from "./published.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import type { Network, PlannedLoad } from "../../model/cell.ts";
import { over, type Place, type PlacedSeries, planSeries } from "../../model/series.ts";

/** What a file must have that is still under way when half of it is there and QUIC has probed the path to which a client has moved. */
const MOVED_BYTES_MIN = 1_000_000;

/** More than any load here takes: the machine is the limit. */
const UNLIMITED_MBPS = 10_000;
const FAR = { rateMbps: 10, delayMs: 50 } as const;

const PUBLISHED_BYTES = PUBLISHED_LIMITS.bytes;
/** The bytes of the published file, of the follow-ups that lose packets or open a connection twice, and of other files. */
const SIZES = {
  quick: { usualBytes: 100_000, smallBytes: 50_000, otherKB: [1], runs: 5, runsSlow: 3, runsMore: 2 },
  usual: {
    usualBytes: PUBLISHED_BYTES,
    smallBytes: 1_000_000,
    otherKB: [1, 100, 1_000],
    runs: 30,
    runsSlow: 10,
    runsMore: 12,
  },
  full: {
    usualBytes: PUBLISHED_BYTES,
    smallBytes: PUBLISHED_BYTES,
    otherKB: [1, 100, 1_000, 100_000],
    runs: 50,
    runsSlow: 50,
    runsMore: 50,
  },
};

/** A phone on the move: every 20 s the same. */
const MOBILE: Pick<Network, "profile" | "profileRepeatMs"> = {
  profile: [
    { atMs: 4_000, rateMbps: 8, delayMs: 60 },
    { atMs: 8_000, rateMbps: 2, delayMs: 100 },
    { atMs: 12_000, rateMbps: 12, delayMs: 40 },
    { atMs: 16_000, rateMbps: 5, delayMs: 80 },
  ],
  profileRepeatMs: 20_000,
};

const both = (flow: PlannedLoad["flow"]): readonly PlannedLoad[] => [
  { arm: "fixed-h2", flow },
  { arm: "fixed-h3", flow },
];

/** The published limits (bandwidth-limits): 10 MB without a limit, at 1 Mbit/s, at 10 Mbit/s far away; and what was left open. */
export function bandwidthLimits({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { usualBytes, smallBytes, otherKB, runs, runsSlow, runsMore } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  const place = (
    network: Place["network"],
    rounds: number,
    rest: Partial<Pick<Place, "imageBytes" | "images" | "loads">> = {},
  ): Place => ({ imageBytes, rounds, ...rest, network });
  const far = (name: string, given: Partial<Network> = {}): Place["network"] => ({ ...FAR, ...given, name });

  const published = place(far("far"), runs);
  const small = { imageBytes: smallBytes };
  const clean = place(far("loss-0"), runsMore, small);
  const moved = { imageBytes: Math.max(imageBytes, MOVED_BYTES_MIN), loads: both("moved") };
  const sizesKB = [...new Set([...otherKB, imageBytes / 1000])].toSorted((one, other) => one - other);
  const series: PlacedSeries[] = [
    {
      id: "limits",
      title: "The published limits",
      axis: "limit",
      points: [
        ["none", place({ name: "unlimited", rateMbps: UNLIMITED_MBPS, delayMs: 0 }, runs)],
        ["100 Mbit/s", place({ name: "line", rateMbps: 100, delayMs: 0 }, runs)],
        ["1 Mbit/s", place({ name: "narrow", rateMbps: 1, delayMs: 0 }, runsSlow)],
        ["10 Mbit/s, 50 ms", published],
      ],
    },
    {
      id: "queue",
      title: "10 Mbit/s, 50 ms: the queue and the reading of the delay",
      axis: "queue (kB)",
      points: [
        ...over([30, 125, 500], (kB) => place(far(`queue-${kB}`, { queueBytes: kB * 1000 }), runsMore)),
        ["1500", published],
        ["1500, RTT 50 ms", place(far("far-rtt-50", { delayMs: 25 }), runsMore)],
      ],
    },
    {
      id: "loss",
      title: "10 Mbit/s, 50 ms: loss",
      axis: "loss (%)",
      points: [
        [0, clean],
        ...over([1, 5, 10], (percent) => place(far(`loss-${percent}`, { lossRatio: percent / 100 }), runsMore, small)),
      ],
    },
    {
      id: "streams",
      title: "10 Mbit/s, 50 ms: several streams at once",
      axis: "streams",
      points: over([1, 4, 10], (images) => {
        const page = { imageBytes: Math.round(imageBytes / 10), images, loads: both("trained") };
        return place(far(`streams-${images}`), runsMore, page);
      }),
    },
    {
      id: "size",
      title: "10 Mbit/s, 50 ms: size",
      axis: "size (kB)",
      points: over(sizesKB, (kB) =>
        kB * 1000 === imageBytes ? published : place(far(`size-${kB}k`), runsMore, { imageBytes: kB * 1000 }),
      ),
    },
    {
      id: "connection",
      title: "A reused connection, a client that moves, and a path that varies",
      axis: "connection, path",
      points: [
        ["new", clean],
        ["moved", place(far("moved"), runsMore, moved)],
        ["reused", place(far("reused"), runsMore, { ...small, loads: both("reused") })],
        ["mobile", place({ name: "mobile", rateMbps: 20, delayMs: 30, ...MOBILE }, runs)],
      ],
    },
  ];
  return {
    switch: "wait",
    loads: both("download"),
    ...planSeries(series, [], congestions, size === "quick"),
    allocation: { first: runsMore, cap: runsMore, comparisons: [] },
    timeoutMs: size === "full" ? 600_000 : 180_000,
    notes: [
      "A load is timed from connection setup to the last byte.",
      size === "usual" &&
        `${runs} loads of each protocol where one to three were published, ${runsSlow} at 1 Mbit/s, where one takes a minute and a half, and ${runsMore} in the follow-ups; those with loss have ${smallBytes / 1e6} MB. \`--full\` makes 50 of each, all of 10 MB, and 100 MB besides.`,
    ],
  };
}

export const experiment = defineLoads({
  plan: bandwidthLimits,
  summarise: seriesSummary,
  report: ({ cells }, recorded) => seriesReport(cells, recorded, PUBLISHED_LIMITS),
});
