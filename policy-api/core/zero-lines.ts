import type { ZeroLine } from "./policy.ts";
import type { PathFacts } from "./times.ts";

/** Whether HTTP/3 is faster by the line whose rate is nearest (in the logarithm). Pure. */
export function isBeyondZeroLine(lines: readonly ZeroLine[], path: PathFacts): boolean {
  let nearest: ZeroLine | undefined;
  let distance = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const away = Math.abs(Math.log(path.deliveryRateBps / line.deliveryRateBps));
    if (nearest === undefined || away < distance) {
      nearest = line;
      distance = away;
    }
  }
  return nearest !== undefined && path.lossRatio >= lossAt(nearest, path.rttMs);
}

/** The loss of the line at an RTT: linear between its points, constant outside them. */
function lossAt({ rttMs, lossRatio }: ZeroLine, rtt: number): number {
  const last = rttMs.length - 1;
  if (rtt <= (rttMs[0] ?? 0)) return lossRatio[0] ?? Number.NaN;
  if (rtt >= (rttMs[last] ?? 0)) return lossRatio[last] ?? Number.NaN;
  let i = 0;
  while ((rttMs[i + 1] ?? rtt) <= rtt) i++;
  const [from, to] = [rttMs[i] ?? rtt, rttMs[i + 1] ?? rtt];
  const [low, high] = [lossRatio[i] ?? Number.NaN, lossRatio[i + 1] ?? Number.NaN];
  return low + ((rtt - from) / (to - from)) * (high - low);
}
