import { csvFormat } from "d3-dsv";

export type CsvValue = string | number | boolean | undefined;

/** Rows as CSV (RFC 4180, but with line feeds), a header first; undefined and NaN become empty fields. */
export function toCsv<Column extends string>(
  rows: readonly Readonly<Partial<Record<Column, CsvValue>>>[],
  columns: readonly Column[],
): string {
  const fields = rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column, Number.isNaN(row[column]) ? undefined : row[column]])),
  );
  return `${csvFormat(fields, [...columns])}\n`;
}
