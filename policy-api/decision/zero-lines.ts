import type { History, RequestFacts } from "./facts.ts";
import { placeOn } from "./gain-table.ts";
import type { ZeroLine, ZeroLinesMethod } from "./policy.ts";

/** An unknown rate: 25 Mbit/s, the speed of an access line. */
const RATE_BPS = 3_125_000;

/**
 * Whether what a client's connections together have lost is beyond the line whose rate is nearest (in the logarithm). Undefined
 * where nobody counted packets. Pure.
 */
export function isBeyondZeroLine(
  { lines }: Pick<ZeroLinesMethod, "lines">,
  request: Pick<RequestFacts, "deliveryRateBps">,
  { connections = [] }: History,
  rttMs: number,
): boolean | undefined {
  const packets = connections.reduce((sum, one) => sum + one.packets, 0);
  const lost = connections.reduce((sum, one) => sum + one.lost, 0);
  if (!(packets > 0)) return undefined;
  const fastest = Math.max(0, ...connections.map(({ deliveryRateBps = 0 }) => deliveryRateBps));
  const rateBps = fastest || request.deliveryRateBps || RATE_BPS;
  const away = (line: ZeroLine): number => Math.abs(Math.log(rateBps / line.deliveryRateBps));
  const [nearest] = lines.toSorted((a, b) => away(a) - away(b));
  return nearest !== undefined && lost / packets >= lossAt(nearest, rttMs);
}

/** The loss of the line at an RTT: linear between its points, constant outside them. */
function lossAt({ rttMs, lossRatio }: ZeroLine, rtt: number): number {
  const [index, share] = placeOn(rttMs, rtt);
  const low = lossRatio[index] ?? Number.NaN;
  return share === 0 ? low : low + share * ((lossRatio[index + 1] ?? Number.NaN) - low);
}
