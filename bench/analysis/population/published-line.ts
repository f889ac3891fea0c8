import type { ZeroLine } from "../../../policy-api/decision/policy.ts";
import type { Congestion } from "../../model/congestion.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { mean } from "../statistics/summary.ts";

/** The one rate of the published method. */
const RATE_MBPS = 200;
/** Never: above every loss there is. */
const NEVER = 2;

/**
 * The published method on our grid: at one rate and over configured loss, the loss at each delay from which on HTTP/3
 * downloads faster, between the last loss where it did not and the next.
 */
export function publishedZeroLine(rows: readonly LoadRow[], congestion: Congestion, rateMbps = RATE_MBPS): ZeroLine {
  const own = rows.filter(
    (row) => row.congestion === congestion && row.rateMbps === rateMbps && row.flow === "download" && counts(row),
  );
  const delays = [...new Set(own.map(({ delayMs }) => delayMs))].sort((a, b) => a - b);
  return {
    deliveryRateBps: (rateMbps * 1e6) / 8,
    rttMs: delays.map((delayMs) => 2 * delayMs),
    lossRatio: delays.map((delayMs) => lossFrom(own.filter((row) => row.delayMs === delayMs))),
  };
}

function lossFrom(rows: readonly LoadRow[]): number {
  const losses = [...new Set(rows.map(({ lossRatio }) => lossRatio))].sort((a, b) => a - b);
  const gains = losses.map((lossRatio) => {
    const of = (arm: LoadRow["arm"]): number =>
      mean(rows.filter((row) => row.arm === arm && row.lossRatio === lossRatio).flatMap(({ loadMs }) => loadMs ?? []));
    return of("fixed-h2") / of("fixed-h3") - 1;
  });
  const last = gains.findLastIndex((gain) => !(gain > 0));
  if (last === -1) return 0;
  const [below, above] = [losses[last], losses[last + 1]];
  const [loses, wins] = [gains[last], gains[last + 1]];
  if (below === undefined || above === undefined || loses === undefined || wins === undefined) return NEVER;
  return below + ((above - below) * -loses) / (wins - loses);
}
