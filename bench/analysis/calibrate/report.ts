import type { GainTable } from "../../../policy-api/decision/gain-table.ts";
import { size as sizeText } from "../tables/format.ts";
import { fillFile } from "../tables/template.ts";
import { gainText, policyGainsTable } from "../senders/gains-table.ts";
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
    price: table.rttMs
      .map(
        (rttMs, i) =>
          `${rttMs} ms ${gainText({ log: table.price[i] ?? Number.NaN, se: table.priceSe[i] ?? Number.NaN })}`,
      )
      .join(", "),
    sizes: table.contentBytes.map((bytes, i) => ({
      size: sizeText(bytes),
      next: policyGainsTable(table, table.next, i),
      again: policyGainsTable(table, table.return, i),
    })),
  }));
  return fillFile("bench/analysis/calibrate/report.md", { ...about, mix: ACCESS_LINES.about, tables });
}
