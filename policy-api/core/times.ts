/** The path that times are looked up for. */
export interface PathFacts {
  readonly rttMs: number;
  readonly lossRatio: number;
  readonly deliveryRateBps: number;
}

/** A matrix of times in milliseconds, `[loss][rtt]`. */
export type TimesMatrix = readonly (readonly number[])[];

/**
 * How long a session takes on one stack at one rate, over a regular lattice of RTT and loss.
 *
 * A session begins on HTTP/2 and stays, begins there and switches to HTTP/3, or begins on HTTP/3 cold.
 */
export interface TimesTable {
  /** Where the figures come from: a document or a recorded run. */
  readonly source: string;
  /** Server software and TCP congestion control: times are a fact about these, not about the protocol alone. */
  readonly stack: string;
  readonly contentBytes: number;
  readonly deliveryRateBps: number;
  /** Increasing. */
  readonly rttMs: readonly number[];
  /** Increasing, 0 to 1. */
  readonly lossRatio: readonly number[];
  readonly stayMs: TimesMatrix;
  readonly switchMs: TimesMatrix;
  readonly coldMs: TimesMatrix;
}

export interface PredictedTimes {
  readonly stayMs: number;
  readonly switchMs: number;
  readonly coldMs: number;
  /** What was transferred in these times. */
  readonly contentBytes: number;
  /** Whether the path lies outside the lattice, so that its nearest edge was taken. */
  readonly clamped: boolean;
}

/** Predicted times for a path, or undefined without tables. Pure; cost grows with the number of tables only. */
export function predictTimes(tables: readonly TimesTable[], path: PathFacts): PredictedTimes | undefined {
  const table = nearestTable(tables, path);
  if (table === undefined) return undefined;
  const rtt = locate(table.rttMs, path.rttMs);
  const loss = locate(table.lossRatio, path.lossRatio);
  return {
    stayMs: interpolate(table.stayMs, loss, rtt),
    switchMs: interpolate(table.switchMs, loss, rtt),
    coldMs: interpolate(table.coldMs, loss, rtt),
    contentBytes: table.contentBytes,
    clamped: rtt.clamped || loss.clamped,
  };
}

/** The table nearest in rate (in the log) among those whose loss reaches the path's; of all, where none does. */
function nearestTable(tables: readonly TimesTable[], path: PathFacts): TimesTable | undefined {
  let best: TimesTable | undefined;
  let bestReaches = false;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const table of tables) {
    // Between an axis that ends at 0 and a path that lost one packet in a thousand there is no difference to read.
    const reaches = path.lossRatio <= (table.lossRatio.at(-1) ?? 0) + 0.001;
    const distance = Math.abs(Math.log(Math.max(1, path.deliveryRateBps) / table.deliveryRateBps));
    if (best === undefined || (reaches && !bestReaches) || (reaches === bestReaches && distance < bestDistance)) {
      best = table;
      bestReaches = reaches;
      bestDistance = distance;
    }
  }
  return best;
}

interface Position {
  readonly index: number;
  /** 0 at `index`, 1 at `index + 1`. */
  readonly share: number;
  readonly clamped: boolean;
}

function locate(axis: readonly number[], value: number): Position {
  const last = axis.length - 1;
  const low = axis[0] ?? 0;
  const high = axis[last] ?? 0;
  if (value <= low) return { index: 0, share: 0, clamped: value < low };
  if (value >= high) return { index: Math.max(0, last - 1), share: last > 0 ? 1 : 0, clamped: value > high };
  let index = 0;
  while ((axis[index + 1] ?? high) <= value) index++;
  const from = axis[index] ?? low;
  const to = axis[index + 1] ?? high;
  return { index, share: (value - from) / (to - from), clamped: false };
}

/** Bilinear in the logarithm of time: halving and doubling weigh the same, and no time comes out negative. */
function interpolate(matrix: TimesMatrix, loss: Position, rtt: Position): number {
  const at = (i: number, j: number): number => Math.log(matrix[i]?.[j] ?? Number.NaN);
  const row = (i: number): number => {
    const from = at(i, rtt.index);
    return rtt.share === 0 ? from : from + rtt.share * (at(i, rtt.index + 1) - from);
  };
  const low = row(loss.index);
  return Math.exp(loss.share === 0 ? low : low + loss.share * (row(loss.index + 1) - low));
}
