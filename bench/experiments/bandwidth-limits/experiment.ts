import { publishedBeside } from "../../analysis/loads/published-series.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import { seriesSections, seriesSummary } from "../../harness/loads/series.ts";
import { PUBLISHED_LIMITS } from "./published.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import type { Network, PlannedLoad } from "../../model/cell.ts";
import { cellsOf, type Place, type Series } from "../../model/series.ts";

/** What a file must have that is still under way when half of it is there and QUIC has probed the new path. */
const MOVED_BYTES_MIN = 1_000_000;

/** More than any load here takes: the machine is the limit. */
const UNLIMITED_MBPS = 10_000;
const FAR = { rateMbps: 10, delayMs: 50 } as const;
const PUBLISHED_BYTES = 10_000_000;

interface Size {
  readonly bytes: number;
  /** Of the follow-ups that lose packets or open a connection twice. */
  readonly smallBytes: number;
  readonly sizes: readonly number[];
  readonly runs: number;
  readonly runsSlow: number;
  readonly runsMore: number;
}

const SIZES: Readonly<Record<LoadOptions["size"], Size>> = {
  quick: { bytes: 100_000, smallBytes: 50_000, sizes: [1_000], runs: 5, runsSlow: 3, runsMore: 2 },
  usual: {
    bytes: PUBLISHED_BYTES,
    smallBytes: 1_000_000,
    sizes: [1_000, 100_000, 1_000_000],
    runs: 30,
    runsSlow: 10,
    runsMore: 12,
  },
  full: {
    bytes: PUBLISHED_BYTES,
    smallBytes: PUBLISHED_BYTES,
    sizes: [1_000, 100_000, 1_000_000, 100_000_000],
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
  const { bytes: usualBytes, smallBytes, sizes, runs, runsSlow, runsMore } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  const place = (
    network: Place["network"],
    rounds: number,
    rest: Partial<Pick<Place, "imageBytes" | "images" | "loads">> = {},
  ): Place => ({ imageBytes, rounds, ...rest, network });
  const far = (name: string, given: Partial<Network> = {}): Place["network"] => ({ ...FAR, ...given, name });

  const unlimited = place({ name: "unlimited", rateMbps: UNLIMITED_MBPS, delayMs: 0 }, runs);
  const line = place({ name: "line", rateMbps: 100, delayMs: 0 }, runs);
  const narrow = place({ name: "narrow", rateMbps: 1, delayMs: 0 }, runsSlow);
  const published = place(far("far"), runs);
  const asRtt = place(far("far-rtt-50", { delayMs: 25 }), runsMore);
  const queues = [30, 125, 500].map((kB) => place(far(`queue-${kB}`, { queueBytes: kB * 1000 }), runsMore));
  const small = { imageBytes: smallBytes };
  const clean = place(far("loss-0"), runsMore, small);
  const lossy = [0.01, 0.05, 0.1].map((lossRatio) =>
    place(far(`loss-${lossRatio * 100}`, { lossRatio }), runsMore, small),
  );
  const streams = [1, 4, 10].map((images) =>
    place(far(`streams-${images}`), runsMore, {
      imageBytes: Math.round(imageBytes / 10),
      images,
      loads: both("trained"),
    }),
  );
  const sized = sizes
    .filter((other) => other !== imageBytes)
    .map((other) => place(far(`size-${other / 1000}k`), runsMore, { imageBytes: other }));
  const mobile = place({ name: "mobile", rateMbps: 20, delayMs: 30, ...MOBILE }, runs);
  const reused = place(far("reused"), runsMore, { ...small, loads: both("reused") });
  // A smaller file has arrived before the client has moved.
  const moved = place(far("moved"), runsMore, {
    imageBytes: Math.max(imageBytes, MOVED_BYTES_MIN),
    loads: both("moved"),
  });

  const point = (label: string, { network }: Place) => ({ label, network: network.name });
  const series: Series[] = [
    {
      id: "limits",
      title: "The published limits",
      about:
        "Delay is one way and meets both directions. Without a limit the machine is one: loads that keep a core busy are left out. The published times without a limit, 0.93 s for 10 MB, are what a line of 100 Mbit/s carries.",
      axis: "limit",
      points: [
        point("none", unlimited),
        point("100 Mbit/s", line),
        point("1 Mbit/s", narrow),
        point("10 Mbit/s, 50 ms", published),
      ],
    },
    {
      id: "queue",
      title: "10 Mbit/s, 50 ms: the queue and the reading of the delay",
      about:
        "The source gives neither the router's queue nor the delay's direction. 125 kB are what the path holds in an RTT of 100 ms; the last place has the queue of 1.5 MB and an RTT of 50 ms.",
      axis: "queue (kB)",
      points: [
        ...queues.map((one) => point(String((one.network.queueBytes ?? 0) / 1000), one)),
        point("1500", published),
        point("1500, RTT 50 ms", asRtt),
      ],
    },
    {
      id: "loss",
      title: "10 Mbit/s, 50 ms: loss",
      about: `Random loss on the data's direction, files of ${smallBytes / 1e6} MB.`,
      axis: "loss (%)",
      points: [point("0", clean), ...lossy.map((one) => point(String((one.network.lossRatio ?? 0) * 100), one))],
    },
    {
      id: "streams",
      title: "10 Mbit/s, 50 ms: several streams at once",
      about: "A small document, then so many files at the same time.",
      axis: "streams",
      points: streams.map((one) => point(String(one.images), one)),
    },
    {
      id: "size",
      title: "10 Mbit/s, 50 ms: size",
      about: "From one packet to what was published.",
      axis: "size (kB)",
      points: [...sized, published]
        .toSorted((one, other) => one.imageBytes - other.imageBytes)
        .map((one) => point(String(one.imageBytes / 1000), one)),
    },
    {
      id: "connection",
      title: "A reused connection, a client that moves, and a path that varies",
      about:
        "`moved` is the large file for a client that changes its address when half of it is there: QUIC migrates, and may use the old address until the new one is validated; over TCP the connection ends at once, and a new one asks for the rest while what is under way still fills the queue. `reused` is the second file over a connection that has loaded the same file before; `new` the first over a new one. `mobile` has rates from 2 to 20 Mbit/s and delays from 30 to 100 ms, another every 4 s, and the large file. A load of `reused` has the CPU time and the lost packets of both files.",
      axis: "connection, path",
      points: [point("new", clean), point("moved", moved), point("reused", reused), point("mobile", mobile)],
    },
  ];
  return {
    about:
      "10 MB without a limit, at 1 Mbit/s, at 10 Mbit/s with 50 ms, as published; and over loss, streams, size, queue",
    loads: both("download"),
    ...cellsOf(
      [
        unlimited,
        line,
        narrow,
        published,
        asRtt,
        ...queues,
        clean,
        ...lossy,
        ...streams,
        ...sized,
        mobile,
        reused,
        moved,
      ],
      congestions,
    ),
    series,
    allocation: { first: runsMore, cap: runsMore, comparisons: [] },
    timeoutMs: size === "full" ? 600_000 : 180_000,
    notes: [
      "A load is timed from connection setup to the last byte.",
      ...(size === "usual"
        ? [
            `${runs} loads of each protocol where one to three were published, ${runsSlow} at 1 Mbit/s, where one takes a minute and a half, and ${runsMore} in the follow-ups; those with loss have ${smallBytes / 1e6} MB. \`--full\` makes 50 of each, all of 10 MB, and 100 MB besides.`,
          ]
        : []),
    ],
  };
}

export const experiment = defineLoads({
  plan: bandwidthLimits,
  summarise: seriesSummary,
  report: (summary) => {
    const { sections, pictures } = seriesSections(summary, publishedBeside(PUBLISHED_LIMITS, summary.cells));
    return { values: { sections }, pictures };
  },
});
