import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, size } from "../analysis/tables/format.ts";

/** Of an evaluation's summary.json, what the table shows. */
export interface WinnersSummary {
  readonly command: string;
  readonly cells: readonly {
    readonly id: string;
    readonly congestion: string;
    readonly imageBytes: number;
    readonly network: { readonly name: string; readonly lossRatio: number; readonly delayMs: number };
  }[];
  /** HTTP/2's mean over HTTP/3's, less 1. */
  readonly gains: readonly { readonly cell: string; readonly fixedH3: Interval | null }[];
}

/** HTTP/2's load time over HTTP/3's in every network, a column for each congestion control: for the README. */
export function winnersTable({ cells, gains }: WinnersSummary): string {
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const networks = [...Map.groupBy(cells, ({ network }) => network.name).values()];
  const rows = networks.map((own) => [
    own[0] === undefined ? "" : nameOf(own[0]),
    ...congestions.map((congestion) => {
      const cell = own.find((candidate) => candidate.congestion === congestion);
      const gain = gains.find((candidate) => candidate.cell === cell?.id)?.fixedH3;
      return gain == null ? "-" : ratio(gain);
    }),
  ]);
  return figuresTable(["loss, RTT, object", ...congestions.map((name) => `TCP with ${name}`)], rows);
}

function nameOf({ network, imageBytes }: WinnersSummary["cells"][number]): string {
  return `${Number((network.lossRatio * 100).toFixed(2))} %, ${2 * network.delayMs} ms, ${size(imageBytes)}`;
}

function ratio({ estimate, low, high }: Interval): string {
  return `${number(1 + estimate)} (${number(1 + low)} to ${number(1 + high)})`;
}
