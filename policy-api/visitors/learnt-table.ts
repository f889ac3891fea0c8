import type { GainTable } from "../decision/gain-table.ts";
import type { Figure, Part } from "./figures.ts";
import type { Learnt } from "./learn.ts";

/** One figure of a table that evidence has changed. */
export interface GainChange {
  readonly part: Part;
  readonly rttMs: number;
  /** Absent for a price. */
  readonly contentBytes?: number | undefined;
  readonly lossRatio?: number | undefined;
  readonly before: number;
  readonly after: number;
  readonly se: number;
  /** Whose pages said something of it, of both arms. 0: it changed by those of places near it. */
  readonly clients: number;
  /** The change as a sentence. */
  readonly text: string;
}

/** A table has as many digits as a measurement. */
const DIGITS = 3;
const SE_MIN = 0.001;
/** No protocol is 22,000 times as fast as the other: parsePolicy refuses more. */
const GAIN_MAX = 10;
/** A change that is said. Smaller ones are in the table. */
const CHANGE_SAID = 0.01;

/** A table with what was learnt in it, and the figures that it changes by CHANGE_SAID or more. Pure. */
export function learntTable(
  table: GainTable,
  { figures, after, clientsAt }: Learnt,
): { readonly table: GainTable; readonly changes: readonly GainChange[] } {
  // A table is plain JSON.
  const changed = JSON.parse(JSON.stringify(table)) as Mutable<GainTable>;
  const changes: GainChange[] = [];
  for (const [index, figure] of figures.entries()) {
    const { part, value: before } = figure;
    const value = rounded(Math.min(GAIN_MAX, Math.max(-GAIN_MAX, after.means[index] ?? 0)));
    const se = Math.min(
      GAIN_MAX,
      Math.max(SE_MIN, rounded(Math.sqrt(Math.max(0, after.covariance[index]?.[index] ?? 0)))),
    );
    put(changed, figure, value, se);
    if (Math.abs(value - before) < CHANGE_SAID) continue;
    const place = {
      part,
      rttMs: table.rttMs[figure.rtt] ?? 0,
      ...(part === "price"
        ? {}
        : { contentBytes: table.contentBytes[figure.size] ?? 0, lossRatio: table.lossRatio[figure.loss] ?? 0 }),
    };
    const change = { ...place, before, after: value, se, clients: clientsAt[index] ?? 0 };
    changes.push({ ...change, text: changeText(change) });
  }
  return { table: changed, changes };
}

const PART_TEXTS = { next: "a next page's gain", return: "a return's gain", price: "the price of an offer" } as const;

function changeText(change: Omit<GainChange, "text">): string {
  const { part, rttMs, contentBytes, lossRatio, before, after, se, clients } = change;
  const size = contentBytes === undefined ? "" : ` and ${contentBytes} bytes`;
  const loss = lossRatio === undefined ? "" : ` with ${Number((lossRatio * 100).toFixed(2))} % loss`;
  return `At ${rttMs} ms${size}${loss} ${PART_TEXTS[part]} becomes ${after} (se ${se}), which was ${before}, by ${clients === 0 ? "pages of places near it" : `the pages of ${clients} clients there, and of places near it`}.`;
}

type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;

function put(table: Mutable<GainTable>, { part, size, loss, rtt }: Figure, value: number, se: number): void {
  const gains = part === "price" ? table.price : table[part].gain[size]?.[loss];
  const ses = part === "price" ? table.priceSe : table[part].se[size]?.[loss];
  if (gains === undefined || ses === undefined) return;
  gains[rtt] = value;
  ses[rtt] = se;
}

function rounded(value: number): number {
  return Number(value.toFixed(DIGITS));
}
