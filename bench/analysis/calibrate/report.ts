import type { Gains, GainTable } from "../../../policy-api/decision/gain-table.ts";
import { size as sizeText } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile } from "../tables/template.ts";
import type { Stack } from "../senders/places.ts";
import { ACCESS_LINES } from "./calibrate.ts";

/** A stack and its table. */
export interface Calibrated extends Stack {
  readonly table: GainTable;
  readonly loads: number;
}

/** The tables, as a person reads them. */
export function calibrationReport(
  done: readonly Calibrated[],
  about: { readonly command: string; readonly rowsSha256: string },
): string {
  const tables = done.map(({ tcp, quic, loads, table }) => ({
    tcp,
    quic,
    loads,
    price: table.rttMs.map((rttMs, i) => `${rttMs} ms ${figure(table.price[i], table.priceSe[i])}`).join(", "),
    sizes: table.contentBytes.map((bytes, i) => ({
      size: sizeText(bytes),
      next: gainsTable(table, table.next, i),
      again: gainsTable(table, table.return, i),
    })),
  }));
  return fillFile("bench/analysis/calibrate/report.md", { ...about, mix: ACCESS_LINES.about, tables });
}

/** A line for each loss, a column for each RTT. */
function gainsTable({ rttMs, lossRatio }: GainTable, { gain, se }: Gains, size: number): string {
  return tableOf(
    [...lossRatio.keys()],
    [
      ["loss", (loss) => `${(lossRatio[loss] ?? 0) * 100} %`],
      ...rttMs.map((rtt, i): [string, (loss: number) => string] => [
        `${rtt} ms`,
        (loss) => figure(gain[size]?.[loss]?.[i], se[size]?.[loss]?.[i]),
      ]),
    ],
  );
}

function figure(value: number | undefined, se: number | undefined): string {
  return `${value?.toFixed(3) ?? "-"} ± ${se?.toFixed(3) ?? "-"}`;
}
