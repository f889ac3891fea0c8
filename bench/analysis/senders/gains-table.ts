import { type Column, tableOf } from "../tables/table-of.ts";
import type { LogTime } from "./places.ts";

/** A line for each loss, a column for each RTT: what HTTP/3 gains there. */
export function gainsTable(
  losses: readonly number[],
  rttsMs: readonly number[],
  gainAt: (loss: number, rttMs: number) => LogTime | undefined,
): string {
  return tableOf(losses, [
    ["loss", (loss) => `${loss * 100} %`],
    ...rttsMs.map((rttMs): Column<number> => [`${rttMs} ms`, (loss) => gainText(gainAt(loss, rttMs))]),
  ]);
}

/** `0.120 ± 0.004` */
function gainText(gain: LogTime | undefined): string {
  return gain === undefined ? "-" : `${gain.log.toFixed(3)} ± ${gain.se.toFixed(3)}`;
}
