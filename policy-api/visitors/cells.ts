import { type GainTable, nearestPlace, type TablePlace } from "../decision/gain-table.ts";

/**
 * Where a page stands: the first page of a client that nobody knows; a next page of a visit; a return's first page. The server
 * knows it before it decides.
 */
export const CELL_POSITIONS = ["new", "next", "return"] as const;
export type CellPosition = (typeof CELL_POSITIONS)[number];

/**
 * A place of a version's gain table, and a position. Where nobody counts packets the cell is of all losses, as the policy's mix
 * has them.
 */
export interface Cell extends TablePlace {
  readonly position: CellPosition;
}

/** What is known of a page before the decision. */
export interface PageFacts {
  readonly position: CellPosition;
  readonly rttMs: number;
  readonly contentBytes: number;
  /** 0 to 1. */
  readonly lossRatio?: number | undefined;
}

/** The cell that is nearest to a page. Pure. */
export function cellOf(table: GainTable, { position, ...facts }: PageFacts): Cell {
  return { position, ...nearestPlace(table, facts) };
}

/** A cell as a key of a store: `next/3/1/-` is a next page at the fourth RTT and the second size, of any loss. */
export function cellKey({ position, rtt, size, loss }: Cell): string {
  return [position, rtt, size, loss ?? "-"].join("/");
}

/**
 * The key of sums over all cells, of each client's whole row. It is kept besides: cells merged would count a client once for
 * each cell that it came to.
 */
export const EVERYWHERE = "all";

const KEY = /^(new|next|return)\/(\d|[1-9]\d)\/(\d|[1-9]\d)\/(\d|[1-9]\d|-)$/;

/** The cell of a key. Undefined if it is none. */
export function parseCellKey(key: string): Cell | undefined {
  const [, position, rtt, size, loss] = KEY.exec(key) ?? [];
  if (position === undefined) return undefined;
  const cell = { position: position as CellPosition, rtt: Number(rtt), size: Number(size) };
  return loss === "-" ? cell : { ...cell, loss: Number(loss) };
}
