import { defineLoads } from "../../harness/loads/define.ts";
import { type CalibrationCell, cellsOf } from "../../analysis/calibrate/cells.ts";
import { number, percent, size as sizeText } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { ALLOCATIONS, type Allocation, type LoadExperiment, type LoadOptions } from "../../model/load-experiment.ts";
import { type Cell, QUEUE_BYTES } from "../../model/cell.ts";

/**
 * Between the published networks on every axis but that of no delay and no loss, so that what is calibrated here can be
 * scored there: on cells that it never saw.
 */
const USUAL = {
  rateMbps: [20, 80, 250],
  lossRatio: [0, 0.01, 0.03, 0.06],
  delayMs: [0, 5, 17, 45],
  imageBytes: [100_000, 1_000_000, 10_000_000],
};

const QUICK: typeof USUAL = { rateMbps: [20, 80], lossRatio: [0, 0.03], delayMs: [0, 17], imageBytes: [100_000] };

/** What loss and delay together do to 10 MB takes too long to be measured often enough, and is 1 MB ten times over. */
const LARGE_BYTES = 10_000_000;
const LARGE_LOSS_DELAY_MAX = 0.05;

const comparisons = [{ flow: "trained", a: "fixed-h2", b: "always-offer" }] as const;
const ALLOCATION: Readonly<Record<LoadOptions["size"], Allocation>> = {
  ...ALLOCATIONS,
  usual: { first: 4, cap: 8, comparisons },
  full: { first: 4, cap: 100, comparisons },
};

/** What `calibrate` reads: how long a page takes that stays on HTTP/2, switches, or begins on HTTP/3. */
export function calibration({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { rateMbps, lossRatio, delayMs, imageBytes } = size === "quick" ? QUICK : USUAL;
  const cells = congestions.flatMap((congestion) =>
    (bytes === undefined ? imageBytes : [bytes]).flatMap((image) =>
      lossRatio.flatMap((loss) =>
        delayMs.flatMap((delay) =>
          size !== "full" && image >= LARGE_BYTES && loss * delay > LARGE_LOSS_DELAY_MAX
            ? []
            : rateMbps.map((rate): Cell => {
                const name = `${image / 1000}k-${rate}-${loss * 100}-${delay}`;
                const network = { name, rateMbps: rate, delayMs: delay, lossRatio: loss, queueBytes: QUEUE_BYTES };
                return { id: `${name}-${congestion}`, network, congestion, imageBytes: image };
              }),
        ),
      ),
    ),
  );
  return {
    about: "rate x loss x delay x size: what `calibrate` turns into a policy for this server",
    loads: (["fixed-h2", "always-offer", "fixed-h3"] as const).map((arm) => ({ arm, flow: "trained" as const })),
    cells,
    takesQuic: true,
    allocation: ALLOCATION[size],
    timeoutMs: 60_000,
    notes: [
      "Each load is a page: a small document and one image. The arms differ in what the session does: stay on HTTP/2, switch to HTTP/3 after the document, or begin on HTTP/3.",
    ],
  };
}

/** What `calibrate` reads: each cell's times, and where senders measured it to lie. */
function calibrationSummary({ rows }: LoadsRecorded) {
  return { cells: cellsOf(rows) };
}

function calibrationReport({ cells }: ReturnType<typeof calibrationSummary>, { experiment }: LoadsRecorded): Report {
  const missing = experiment.cells.filter(({ id }) => cells.every((cell) => cell.id !== id)).map(({ id }) => id);
  return {
    values: {
      missing: missing.length === 0 ? "" : `${missing.length} cells: ${missing.join(", ")}`,
      congestions: [...Map.groupBy(cells, ({ congestion }) => congestion)].map(([congestion, own]) => ({
        congestion,
        table: cellsTable(own),
      })),
    },
  };
}

function cellsTable(cells: readonly CalibrationCell[]): string {
  const mbps = (place: CalibrationCell["configured"] | undefined): string =>
    number(((place?.deliveryRateBps ?? Number.NaN) * 8) / 1e6);
  return tableOf(cells, [
    ["image", ({ contentBytes }) => sizeText(contentBytes)],
    ["Mbit/s", ({ configured }) => mbps(configured)],
    ["loss", ({ configured }) => percent(configured.lossRatio)],
    ["RTT ms", ({ configured }) => number(configured.rttMs)],
    ["n", ({ stay, switch: switched, cold }) => [stay.n, switched.n, cold.n].join(", ")],
    ["stays ms", ({ stay }) => number(Math.exp(stay.log))],
    ["gain of the switch", ({ stay, switch: switched }) => percent(Math.expm1(stay.log - switched.log))],
    ["gain of a cold session", ({ stay, cold }) => percent(Math.expm1(stay.log - cold.log))],
    ["TCP measures: loss", ({ measured }) => percent(measured.tcp?.lossRatio)],
    ["Mbit/s", ({ measured }) => mbps(measured.tcp)],
    ["QUIC measures: loss", ({ measured }) => percent(measured.quic?.lossRatio)],
    ["Mbit/s", ({ measured }) => mbps(measured.quic)],
  ]);
}

export const experiment = defineLoads({ plan: calibration, summarise: calibrationSummary, report: calibrationReport });
