import type { SketchTimes } from "../policy-api/visitors/assigned-client.ts";
import { type OutcomeKey, outcomeId, withoutKeys } from "../policy-api/visitors/sums-change.ts";
import type { Lost } from "./outcome-rows.ts";
import type { PathRow } from "./path-rows.ts";
import type { Told } from "./told.ts";

/** A row in memory. */
export interface HeldRow {
  row: PathRow;
  writtenAtMs: number;
  /** What a client's row said of it then. Undefined: it has no row. */
  told: Told | undefined;
  /** This part of the row is written only together with the sums that it changes. So it is as it was written last. */
  inSums: InSums;
  /** Times that go into the sketches of the sums then. */
  times: SketchTimes[];
}

type InSums = Pick<PathRow, "assigned" | "countedPages">;

/** Whether a row has something to add to sums. */
export function waits({ row, inSums }: HeldRow): boolean {
  return row.assigned !== inSums.assigned;
}

export function inSumsOf({ assigned, countedPages }: PathRow): InSums {
  return { assigned, countedPages };
}

/** Says which sums do not have a client any more. Undefined if all do, as nearly always. */
export function goneBy(refused: readonly OutcomeKey[], lost: Lost): ((key: OutcomeKey) => boolean) | undefined {
  if (refused.length + lost.keys.length + lost.versions.length === 0) return undefined;
  const ids = new Set([...refused, ...lost.keys].map(outcomeId));
  return (key) => lost.versions.includes(key.version) || ids.has(outcomeId(key));
}

/** A row whose client is not in sums that are gone. */
export function withoutOutcomes<R extends InSums>(row: R, isGone: ((key: OutcomeKey) => boolean) | undefined): R {
  const { assigned } = row;
  return assigned === undefined || isGone === undefined ? row : { ...row, assigned: withoutKeys(assigned, isGone) };
}

/** The same in memory. A row that did not wait does not wait afterwards. */
export function forgetOutcomes(held: HeldRow, isGone: (key: OutcomeKey) => boolean): void {
  const isWaiting = waits(held);
  held.row = withoutOutcomes(held.row, isGone);
  held.inSums = isWaiting ? withoutOutcomes(held.inSums, isGone) : inSumsOf(held.row);
}
