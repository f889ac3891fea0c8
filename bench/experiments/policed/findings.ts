import { type Interval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { percent, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, machineText } from "../../harness/machine-text.ts";
import { PAGES, type Place, type PolicedRow } from "./settings.ts";

/** "At most two pages over HTTP/3" where UDP alone loses, and no slower than this from the third page on. */
const PAGES_OVER_H3_MAX = 2;
const SLOWER_MAX = 1.1;
const FROM_PAGE = 3;

export function policedSummary(
  { rows: all, command, starts }: Pick<Recorded<unknown, PolicedRow>, "rows" | "command" | "starts">,
  places: readonly Place[],
  seed: number,
) {
  // A run that was killed between two rows of a visit has made it again.
  const rows = [...new Map(all.map((row) => [row.id, row])).values()];
  const found = places.map(({ network, isPoliced, congestion }) => {
    const of = (arm: PolicedRow["arm"]): PolicedRow[] =>
      rows.filter((row) => row.network === network.name && row.congestion === congestion && row.arm === arm);
    const [h2, adaptive] = [of("fixed-h2"), of("adaptive")];
    const later = (own: readonly PolicedRow[]): number[] =>
      own.flatMap(({ page, loadMs }) => (page >= FROM_PAGE && loadMs !== null ? [loadMs] : []));
    const visits = [...Map.groupBy(adaptive, ({ visit }) => visit).values()];
    const overH3 = visits.map((own) => own.filter(({ filesH3 }) => (filesH3 ?? 0) > 0).length);
    return {
      network: network.name,
      isPoliced,
      congestion,
      visits: visits.length,
      /** By page: the share of files over HTTP/3. */
      pages: Array.from({ length: PAGES }, (_, i) =>
        mean(adaptive.flatMap(({ page, filesH3 }) => (page === i + 1 ? (filesH3 ?? []) : []))),
      ),
      mostOverH3: Math.max(0, ...overH3),
      /** From the third page on: the mean time under the policy over HTTP/2's. */
      slower:
        later(h2).length < 2 || later(adaptive).length < 2
          ? undefined
          : ratioOfMeansInterval(later(adaptive), later(h2), {
              random: seededRandom(seed, "policed", network.name, congestion),
            }),
    };
  });
  return { command, day: lastDay(rows), starts, rows: rows.length, places: found };
}

type Summary = ReturnType<typeof policedSummary>;
type Found = Summary["places"][number];

/** Whether a place keeps what the policy promises; undefined where it promises nothing, or too little was measured. */
export function keeps({ isPoliced, mostOverH3, slower, visits }: Found): boolean | undefined {
  if (!isPoliced || visits === 0 || slower === undefined) return undefined;
  return mostOverH3 <= PAGES_OVER_H3_MAX && slower.low <= SLOWER_MAX;
}

export function policedReport({ command, day, starts, rows, places }: Summary): Report {
  const verdict = (found: Found): string => {
    const kept = keeps(found);
    return kept === undefined ? "-" : kept ? "keeps it" : "**breaks it**";
  };
  const table = tableOf(places, [
    ["network", ({ network }) => network],
    ["TCP", ({ congestion }) => congestion],
    ["visits", ({ visits }) => String(visits)],
    ...Array.from({ length: PAGES }, (_, i): [string, (found: Found) => string] => [
      `page ${i + 1}`,
      ({ pages }) => percent(pages[i]),
    ]),
    ["most pages over HTTP/3", ({ mostOverH3 }) => String(mostOverH3)],
    ["time from page 3 on, over HTTP/2's", ({ slower }) => withInterval(slower satisfies Interval | undefined)],
    ["", verdict],
  ]);
  const machine = machineText(starts);
  return { values: { command, day, machine, rows, pagesMax: PAGES_OVER_H3_MAX, slowerMax: SLOWER_MAX, table } };
}
