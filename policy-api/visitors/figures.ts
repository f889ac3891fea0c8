import type { Gains, GainTable } from "../decision/gain-table.ts";

/** Which figures of a table: gains of next pages or of returns, or the price of an offer. */
export type Part = "next" | "return" | "price";

/** One figure of a table, and where it stands: indices into the table's nodes. A price has no size and no loss. */
export interface Figure {
  readonly part: Part;
  readonly rtt: number;
  readonly size: number;
  readonly loss: number;
  readonly value: number;
  readonly se: number;
}

/** All figures of a table, in the order of `indexOf`. */
export function figuresOf({ rttMs, contentBytes, lossRatio, ...table }: GainTable): Figure[] {
  const at = ({ gain, se }: Gains, part: Part): Figure[] =>
    contentBytes.flatMap((_, size) =>
      lossRatio.flatMap((__, loss) =>
        rttMs.map((___, rtt) => {
          return { part, size, loss, rtt, value: gain[size]?.[loss]?.[rtt] ?? 0, se: se[size]?.[loss]?.[rtt] ?? 0 };
        }),
      ),
    );
  const prices = rttMs.map((_, rtt): Figure => {
    return { part: "price", size: 0, loss: 0, rtt, value: table.price[rtt] ?? 0, se: table.priceSe[rtt] ?? 0 };
  });
  return [...at(table.next, "next"), ...at(table.return, "return"), ...prices];
}

/** Where a figure stands among `figuresOf`. */
export function indexOf(
  { rttMs, contentBytes, lossRatio }: Pick<GainTable, "rttMs" | "contentBytes" | "lossRatio">,
  { part, size, loss, rtt }: Pick<Figure, "part" | "size" | "loss" | "rtt">,
): number {
  const losses = lossRatio.length;
  const gains = contentBytes.length * losses * rttMs.length;
  if (part === "price") return 2 * gains + rtt;
  return (part === "next" ? 0 : gains) + (size * losses + loss) * rttMs.length + rtt;
}
