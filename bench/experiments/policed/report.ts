import { ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { percent, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, onceEach, runValues } from "../../harness/machine.ts";
import type { Network } from "../../model/cell.ts";
import type { Congestion } from "../../model/congestion.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { PAGE_COLUMNS } from "../../model/visit-row.ts";

export const ARMS = ["fixed-h2", "adaptive"] as const;
/** Of a visit. */
export const PAGES = 6;

/** A network, and whether what QUIC loses there is UDP's alone. */
export interface PolicedPlace {
  readonly network: Network;
  readonly isPoliced: boolean;
  readonly congestion: Congestion;
}

/** One page of a visit: its id names network, congestion control, arm, visit and page. */
export const POLICED_ROW = {
  ...PAGE_COLUMNS,
  network: string(),
  arm: string<(typeof ARMS)[number]>(),
  /** From 1. */
  page: float,
  /** Of its files, the share over HTTP/3. */
  filesH3: optionalFloat,
} as const satisfies RowSchema;

export type PolicedRow = RowOf<typeof POLICED_ROW>;

/** "At most two pages over HTTP/3" where UDP alone loses, and no slower than this from the third page on. */
const PAGES_OVER_H3_MAX = 2;
const SLOWER_MAX = 1.1;
const FROM_PAGE = 3;

type Summary = ReturnType<typeof policedSummary>;
type Found = Summary["places"][number];

export function policedSummary(
  run: Pick<Recorded<unknown, PolicedRow>, "rows" | "command" | "starts">,
  places: readonly PolicedPlace[],
  seed: number,
) {
  const rows = onceEach(run.rows);
  const found = places.map(({ network: { name: network }, isPoliced, congestion }) => {
    const of = (arm: PolicedRow["arm"]): PolicedRow[] =>
      rows.filter((row) => row.network === network && row.congestion === congestion && row.arm === arm);
    const later = (own: readonly PolicedRow[]): number[] =>
      own.flatMap(({ page, loadMs }) => (page >= FROM_PAGE && loadMs !== null ? [loadMs] : []));
    const adaptive = of("adaptive");
    const [times, timesOverH2] = [later(adaptive), later(of("fixed-h2"))];
    const visits = [...Map.groupBy(adaptive, ({ visit }) => visit).values()];
    const random = seededRandom(seed, "policed", network, congestion);
    return {
      network,
      isPoliced,
      congestion,
      visits: visits.length,
      /** By page: the share of files over HTTP/3. */
      pages: Array.from({ length: PAGES }, (_, i) =>
        mean(adaptive.flatMap(({ page, filesH3 }) => (page === i + 1 ? (filesH3 ?? []) : []))),
      ),
      mostOverH3: Math.max(0, ...visits.map((own) => own.filter(({ filesH3 }) => (filesH3 ?? 0) > 0).length)),
      /** From the third page on: the mean time under the policy over HTTP/2's. */
      slower:
        Math.min(times.length, timesOverH2.length) < 2
          ? undefined
          : ratioOfMeansInterval(times, timesOverH2, { random }),
    };
  });
  return { command: run.command, day: lastDay(rows), starts: run.starts, rows: rows.length, places: found };
}

/** Whether a place keeps what the policy promises; undefined where it promises nothing, or too little was measured. */
export function keeps({ isPoliced, mostOverH3, slower, visits }: Found): boolean | undefined {
  if (!isPoliced || visits === 0 || slower === undefined) return undefined;
  return mostOverH3 <= PAGES_OVER_H3_MAX && slower.low <= SLOWER_MAX;
}

export function policedReport(summary: Summary): Report {
  const { day, rows, places } = summary;
  const verdict = (found: Found): string => {
    const kept = keeps(found);
    return kept === undefined ? "-" : kept ? "keeps it" : "**breaks it**";
  };
  const table = tableOf(places, [
    ["network", ({ network }) => network],
    ["TCP", ({ congestion }) => congestion],
    ["visits", ({ visits }) => String(visits)],
    ...Array.from({ length: PAGES }, (_, i): Column<Found> => [`page ${i + 1}`, ({ pages }) => percent(pages[i])]),
    ["most pages over HTTP/3", ({ mostOverH3 }) => String(mostOverH3)],
    ["time from page 3 on, over HTTP/2's", ({ slower }) => withInterval(slower)],
    ["", verdict],
  ]);
  return {
    values: { ...runValues(summary), day, rows, pagesMax: PAGES_OVER_H3_MAX, slowerMax: SLOWER_MAX, table },
  };
}
