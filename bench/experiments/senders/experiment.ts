import { offBetweenLosses, type Shape } from "../../analysis/calibrate/between-losses.ts";
import { gainsTable } from "../../analysis/senders/gains-table.ts";
import { GAINS, type SenderPlace, placesOf, type Stack, stacksOf } from "../../analysis/senders/places.ts";
import { number, size as sizeText } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { type Cell, QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { cellsBySender, SENDERS } from "../../model/senders.ts";

const RATE_MBPS = 50;
const USUAL = {
  rttMs: [5, 30, 100, 300],
  lossRatio: [0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05],
  imageBytes: [100_000, 1_000_000],
};
const QUICK: typeof USUAL = { rttMs: [30], lossRatio: [0, 0.02], imageBytes: [100_000] };

/**
 * Visits of each sender: many where little loss makes them differ and answers are close, fewer where much loss makes answers
 * plain or visits long, few where nothing makes them differ.
 */
const ROUNDS = { clean: 6, close: 24, plain: 10, long: 6, quick: 3 };
/** From this loss on answers are plain. */
const PLAIN_LOSS = 0.01;
/** Packets x RTT x the root of the loss: above it a page takes about 10 s (Mathis, Semke, Mahdavi, Ott 1997). */
const LONG_MS = 12_000;

/**
 * How long a first and a later page take by each sender, over RTT, loss and bytes: what gain tables are made of. Cells lie
 * where the tables have their places, so that a figure of a table is one of this report.
 */
export function senders({ congestions, size }: LoadOptions): LoadExperiment {
  const { rttMs, lossRatio, imageBytes } = size === "quick" ? QUICK : USUAL;
  const cells = imageBytes.flatMap((bytes) =>
    lossRatio.flatMap((loss) =>
      rttMs.flatMap((rtt) => {
        const name = `${bytes / 1000}k-${rtt}-${loss * 100}`;
        const network = { name, rateMbps: RATE_MBPS, delayMs: rtt / 2, lossRatio: loss, queueBytes: QUEUE_BYTES };
        return cellsBySender({ id: name, network, imageBytes: bytes }, congestions, "visit");
      }),
    ),
  );
  const roundsOf = (cell: Cell): number => {
    const { lossRatio: loss } = cell.network;
    if (size === "quick") return ROUNDS.quick;
    if (loss === 0) return ROUNDS.clean;
    return isLong(cell) ? ROUNDS.long : loss < PLAIN_LOSS ? ROUNDS.close : ROUNDS.plain;
  };
  return {
    switch: "wait",
    loads: [{ arm: "bare", flow: "visit" }],
    cells,
    allocation: { first: ROUNDS.close, cap: ROUNDS.close, comparisons: [] },
    rounds: Object.fromEntries(cells.map((cell) => [cell.id, roundsOf(cell)])),
    timeoutMs: 240_000,
    notes: [
      "A load is a visit of two pages over one connection, five seconds apart: a small document and one image each. It begins on HTTP/2 or on HTTP/3 and stays there. No worker stands behind any of the servers; quiche's answers by itself, the edge asks an origin on the same machine.",
    ],
  };
}

function isLong({ network: { delayMs, lossRatio }, imageBytes }: Cell): boolean {
  const packets = imageBytes / 1_400;
  return packets * 2 * delayMs * Math.sqrt(lossRatio) > LONG_MS;
}

function sendersSummary({ rows }: LoadsRecorded) {
  return { places: placesOf(rows) };
}

const KINDS = [
  { about: "A return: the first page, with the connection's set-up", gain: GAINS.return },
  {
    about: "The page after the offer: HTTP/2's later page, HTTP/3's first one over a connection that is open already",
    gain: GAINS.opened,
  },
  { about: "The pages after that one: over connections that both carried a page before", gain: GAINS.later },
  { about: "A next page, whichever it is, as a visit has them", gain: GAINS.next },
];

function sendersReport({ places }: ReturnType<typeof sendersSummary>): Report {
  const sizes = [...Map.groupBy(places, ({ contentBytes }) => contentBytes)];
  const tables = stacksOf(places).flatMap((stack) =>
    sizes.map(([contentBytes, own]) => ({
      ...stack,
      size: sizeText(contentBytes),
      kinds: KINDS.map(({ about, gain }) => ({ about, table: stackTable(own, stack, gain) })),
    })),
  );
  return { values: { tables, between: betweenTable(places), times: timesTable(places) } };
}

/** By which shape gains between no loss and much are best told. */
function betweenTable(places: readonly SenderPlace[]): string {
  const kinds = (["next", "return"] as const).flatMap((kind) => stacksOf(places).map((stack) => ({ kind, stack })));
  const off =
    (shape: Shape) =>
    ({ kind, stack }: (typeof kinds)[number]) =>
      offBetweenLosses(places, stack, kind, shape)?.toFixed(3) ?? "-";
  return tableOf(kinds, [
    ["stack", ({ stack }) => `TCP ${stack.tcp} and ${stack.quic}`],
    ["page", ({ kind }) => kind],
    ["in the loss", off("line")],
    ["in its logarithm", off("logarithm")],
  ]);
}

/** The places of one size, by one pair of senders. */
function stackTable(
  places: readonly SenderPlace[],
  { tcp, quic }: Stack,
  gain: (typeof KINDS)[number]["gain"],
): string {
  const levels = (of: (place: SenderPlace) => number) => [...new Set(places.map(of))].sort((a, b) => a - b);
  return gainsTable(
    levels(({ lossRatio }) => lossRatio),
    levels(({ rttMs }) => rttMs),
    (loss, rtt) => {
      const { times = {} } = places.find(({ rttMs, lossRatio }) => rttMs === rtt && lossRatio === loss) ?? {};
      const [h2, h3] = [times[tcp], times[quic]];
      return h2 && h3 && gain(h2, h3);
    },
  );
}

function timesTable(places: readonly SenderPlace[]): string {
  return tableOf(places, [
    ["bytes", ({ contentBytes }) => sizeText(contentBytes)],
    ["RTT", ({ rttMs }) => `${rttMs} ms`],
    ["loss", ({ lossRatio }) => `${lossRatio * 100} %`],
    ...SENDERS.map((sender): [string, (place: SenderPlace) => string] => [
      sender,
      ({ times }) => {
        const own = times[sender];
        if (own === undefined) return "-";
        const [first, opened, later] = [own.first, own.opened, own.later].map(({ log }) => number(Math.exp(log)));
        return `${first}, ${opened}, ${later} (${own.n})`;
      },
    ]),
  ]);
}

export const experiment = defineLoads({ plan: senders, summarise: sendersSummary, report: sendersReport });
