import { FEW, timesOf } from "../../analysis/loads/groups.ts";
import { publishedBeside, type PublishedSeries, type SeriesCell } from "../../analysis/loads/series-cells.ts";
import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { crossover, type Crossover, growth } from "../../analysis/statistics/crossover.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { figuresTable, tableOf } from "../../analysis/tables/table-of.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { PlannedLoad } from "../../model/cell.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/**
 * A latency benchmark of 2025-10-01: 5 Mbit/s, no loss, 1 MB, means of 50 requests for each of four delays and two protocols.
 */
export const PUBLISHED_SWEEP = {
  source: "a latency benchmark of 2025-10-01, means of 50 requests",
  series: "delay",
  bytes: 1_000_000,
  points: [
    { label: "0", h2Ms: 1_763, h3Ms: 1_859 },
    { label: "50", h2Ms: 2_166, h3Ms: 2_160 },
    { label: "100", h2Ms: 2_592, h3Ms: 2_592 },
    { label: "150", h2Ms: 3_042, h3Ms: 3_015 },
  ],
  findings: [
    "HTTP/2 is 5.4 % faster without delay",
    "the crossover is at about 45 to 50 ms",
    "HTTP/3 is 0.9 % faster at 150 ms",
  ],
} as const satisfies PublishedSeries;

const STEP_MS = 50;
/** The series that are the sweep, read in one way or another, and how a row of the table names each. */
const READINGS: Readonly<Record<string, string>> = {
  delay: "delay one way",
  rtt: "delay as RTT",
  retry: "delay one way, HTTP/3 with a Retry",
  window: "the same, and TCP from quic-go's first window",
};
const [FIRST, SECOND, , LAST] = PUBLISHED_SWEEP.points;
/** How far HTTP/3 was behind without delay, and what 50 ms more added, as published. */
const PUBLISHED = {
  behindMs: FIRST.h3Ms - FIRST.h2Ms,
  growthMs: { h2: (LAST.h2Ms - FIRST.h2Ms) / 3, h3: (LAST.h3Ms - FIRST.h3Ms) / 3 },
  firstStepMs: { h2: SECOND.h2Ms - FIRST.h2Ms, h3: SECOND.h3Ms - FIRST.h3Ms },
  growthAfterFirstMs: { h2: (LAST.h2Ms - SECOND.h2Ms) / 2, h3: (LAST.h3Ms - SECOND.h3Ms) / 2 },
} as const;

type SweepReading = ReturnType<typeof sweepReadings>[number];

/** What the sweep asks of its series over delay: where the protocols cross, and what each step of delay adds. */
export function sweepReadings({ rows, seed }: LoadsRecorded, cells: readonly SeriesCell[]) {
  const isPublished = publishedBeside(PUBLISHED_SWEEP, cells) !== undefined;
  return [...new Set(cells.map(({ congestion }) => congestion))].flatMap((congestion) =>
    Object.keys(READINGS).flatMap((series) => {
      const own = cells.filter((cell) => cell.series === series && cell.congestion === congestion);
      const places = own.flatMap(({ label, cell, h2, h3, ratio }) => {
        if (h2 === undefined || h3 === undefined || ratio === undefined) return [];
        const [a, b] = [timesOf(rows, cell, h2.arm, h2.flow), timesOf(rows, cell, h3.arm, h3.flow)];
        return { x: Number(label), a, b };
      });
      const random = seededRandom(seed, "crossover", series, congestion);
      const [first, second, last] = [places[0], places[1], places.at(-1)];
      if (first === undefined || second === undefined || last === undefined) return [];
      const crossoverIf = (laterMs: (x: number) => number): Crossover =>
        crossover(
          places.map(({ x, a, b }) => ({ x, a, b: b.map((ms) => ms + laterMs(x)) })),
          random,
        );
      const growthSince = (from: typeof first): { h2: Interval; h3: Interval } => {
        const steps = (last.x - from.x) / STEP_MS;
        return { h2: growth(from.a, last.a, steps, random), h3: growth(from.b, last.b, steps, random) };
      };
      const behindMs = mean(first.b) - mean(first.a);
      return {
        congestion,
        series,
        behindMs,
        /** If HTTP/3 were as far behind at the first place as published, everywhere by as much more. */
        crossoverBehind: isPublished ? crossoverIf(() => PUBLISHED.behindMs - behindMs) : undefined,
        crossover: crossover(places, random),
        /** If HTTP/3 took a round trip more. */
        crossoverLater: crossoverIf((x) => (series === "rtt" ? x : 2 * x)),
        growthMs: growthSince(first),
        firstStepMs: { h2: mean(second.a) - mean(first.a), h3: mean(second.b) - mean(first.b) },
        /** From the second place on: published, the first step is another one. */
        growthAfterFirstMs: second === last ? undefined : growthSince(second),
        h2AheadAtFirst: mean(first.b) / mean(first.a) - 1,
        h3AheadAtLast: mean(last.a) / mean(last.b) - 1,
      };
    }),
  );
}

/** Each column's title, what was published of it, and what it says of a reading. */
const COLUMNS: readonly (readonly [title: string, published: string, text: (reading: SweepReading) => string])[] = [
  ["", "published", ({ congestion, series }) => `${congestion}, ${READINGS[series] ?? series}`],
  ["crossover, ms", "45 to 50", (one) => crossoverText(one.crossover)],
  ["if HTTP/3 came a round trip later", "", (one) => (isRetried(one) ? "-" : crossoverText(one.crossoverLater))],
  ["if it were as far behind at 0 ms as published", "", (one) => crossoverText(one.crossoverBehind)],
  ["50 ms more add, h2 ms", number(PUBLISHED.growthMs.h2), ({ growthMs }) => withInterval(growthMs.h2)],
  ["h3 ms", number(PUBLISHED.growthMs.h3), ({ growthMs }) => withInterval(growthMs.h3)],
  ["the first step adds, h2 ms", number(PUBLISHED.firstStepMs.h2), ({ firstStepMs }) => number(firstStepMs.h2)],
  ["h3 ms", number(PUBLISHED.firstStepMs.h3), ({ firstStepMs }) => number(firstStepMs.h3)],
  ["after it 50 ms more add, h2 ms", number(PUBLISHED.growthAfterFirstMs.h2), (one) => laterText(one, "h2")],
  ["h3 ms", number(PUBLISHED.growthAfterFirstMs.h3), (one) => laterText(one, "h3")],
  ["h3 behind without delay, ms", number(PUBLISHED.behindMs), ({ behindMs }) => number(behindMs)],
  ["h2 ahead without delay", percent(FIRST.h3Ms / FIRST.h2Ms - 1), ({ h2AheadAtFirst }) => percent(h2AheadAtFirst)],
  ["h3 ahead at the longest delay", percent(LAST.h2Ms / LAST.h3Ms - 1), ({ h3AheadAtLast }) => percent(h3AheadAtLast)],
];

/** The readings whose server asks for a Retry: they have that round trip already. */
function isRetried({ series }: SweepReading): boolean {
  return series === "retry" || series === "window";
}

function laterText({ growthAfterFirstMs }: SweepReading, protocol: "h2" | "h3"): string {
  return number(growthAfterFirstMs?.[protocol].estimate);
}

/** Every reading of the sweep, below what was published where the files are as large. */
export function sweepTable(sweep: readonly SweepReading[]): string {
  const isPublished = sweep.some(({ crossoverBehind }) => crossoverBehind !== undefined);
  return figuresTable(
    COLUMNS.map(([title]) => title),
    [
      ...(isPublished ? [COLUMNS.map(([, published]) => published)] : []),
      ...sweep.map((one) => COLUMNS.map(([, , text]) => text(one))),
    ],
  );
}

function crossoverText(found: Crossover | undefined): string {
  if (found === undefined) return "-";
  const { x, interval, share } = found;
  if (x === undefined) return share === 0 ? "none" : `none (${percent(share)} of resamples have one)`;
  const notes = [
    ...(interval === undefined ? [] : [`${number(interval[0])} to ${number(interval[1])}`]),
    ...(share > 0.995 ? [] : [`${percent(share)} of resamples`]),
  ];
  return notes.length === 0 ? number(x) : `${number(x)} (${notes.join("; ")})`;
}

/** How a client comes: for the first time, or again. */
export const WAYS: readonly (PlannedLoad & { readonly name: string })[] = [
  { arm: "fixed-h2", flow: "download", name: "h2, first visit" },
  { arm: "fixed-h2", flow: "resumed", name: "h2, resumed" },
  { arm: "fixed-h3", flow: "download", name: "h3, first visit" },
  { arm: "fixed-h3", flow: "resumed", name: "h3, resumed" },
  { arm: "early-h3", flow: "resumed", name: "h3, resumed, edge with 0-RTT" },
  { arm: "early-h3", flow: "early", name: "h3, 0-RTT" },
];

/** One way at one delay, beside one congestion control of the server's TCP; milliseconds. */
type ReturningWay = ReturnType<typeof returningWays>[number];

/** What a client gains that was here before: the cells that have loads of the flow `resumed`. */
export function returningWays({ experiment, rows, seed }: LoadsRecorded) {
  return experiment.cells.flatMap(({ id, congestion, network: { delayMs } }) => {
    const own = WAYS.map((way) => ({
      ...way,
      loads: rows.filter((row) => row.cell === id && row.arm === way.arm && row.flow === way.flow && counts(row)),
    }));
    const base = own.find(({ arm, flow }) => arm === "fixed-h2" && flow === "resumed")?.loads ?? [];
    if (own.some(({ loads }) => loads.length < FEW)) return [];
    return own.map(({ name, arm, flow, loads }) => {
      const random = seededRandom(seed, "returning", id, arm, flow);
      const sent = loads.map((row) => (arm === "fixed-h2" ? row.tcpPacketsSent : row.quicPacketsSent) ?? Number.NaN);
      const times = timesIn(loads, "loadMs");
      const loadMs = meanInterval(times, { random });
      return {
        congestion,
        delayMs,
        way: name,
        n: loads.length,
        loadMs,
        ttfbMs: meanInterval(timesIn(loads, "ttfbMs"), { random }),
        /** By the server, a load: over TCP those with data, over QUIC all. */
        packetsSent: mean(sent),
        /** How many the mean load takes. */
        roundTrips: loadMs.estimate / (2 * delayMs),
        /** HTTP/2's resumed mean load time over this one's; undefined for itself. */
        ratio: loads === base ? undefined : ratioOfMeansInterval(timesIn(base, "loadMs"), times, { random }),
      };
    });
  });
}

/** A load that timed out may have had no first byte. */
function timesIn(rows: readonly LoadRow[], field: "loadMs" | "ttfbMs"): number[] {
  return rows.flatMap((row) => row[field] ?? []);
}

/** A row for each way; undefined where nothing of it was measured. */
export function returningTable(ways: readonly ReturningWay[]): string | undefined {
  if (ways.length === 0) return undefined;
  return tableOf(ways, [
    ["TCP, delay one way", ({ congestion, delayMs }) => `${congestion}, ${delayMs} ms`],
    ["way", ({ way }) => way],
    ["n", ({ n }) => String(n)],
    ["first byte, ms", ({ ttfbMs }) => withInterval(ttfbMs)],
    ["load, ms", ({ loadMs }) => withInterval(loadMs)],
    ["round trips", ({ roundTrips }) => number(roundTrips)],
    ["packets sent", ({ packetsSent }) => number(packetsSent)],
    ["resumed HTTP/2's time over this", ({ ratio }) => (ratio === undefined ? "1" : withInterval(ratio))],
  ]);
}
