/** An observation: where (in scaled coordinates, one unit being the bandwidth), how much, and its sampling variance. */
export interface Observation {
  readonly x: readonly number[];
  readonly y: number;
  readonly variance: number;
}

export interface Fitted {
  readonly estimate: number;
  readonly se: number;
  /** Observations within the asked radius: what supports the estimate. */
  readonly near: number;
}

/**
 * Slopes are held back by so much of the weights: where the neighbours lie on a line (TCP's rate follows from its loss
 * and RTT) a slope across it is anything.
 */
const RIDGE = 0.02;

/**
 * Local linear regression at a point (Cleveland and Devlin 1988): weighted least squares over the neighbours, tricube
 * weights, each divided by the observation's variance plus the scatter around the plane. The standard error holds both,
 * so that it grows where the data are few, noisy, far off or not flat.
 *
 * @param radius of the kernel; where fewer than `neighbours` lie within, it grows until it holds as many
 * @returns undefined without as many observations
 */
export function localRegression(
  observations: readonly Observation[],
  at: readonly number[],
  radius: number,
  neighbours: number,
): Fitted | undefined {
  if (observations.length < neighbours) return undefined;
  const distances = observations.map(({ x }) => Math.hypot(...x.map((value, i) => value - (at[i] ?? 0))));
  const reach = Math.max(radius, 1.05 * (distances.toSorted((a, b) => a - b)[neighbours - 1] ?? 0));
  const near = distances.filter((distance) => distance <= radius).length;
  const inside = observations.flatMap(({ x, y, variance }, i) => {
    const share = (distances[i] ?? reach) / reach;
    const kernel = share >= 1 ? 0 : (1 - share ** 3) ** 3;
    return kernel === 0 ? [] : [{ row: [1, ...x.map((value, k) => value - (at[k] ?? 0))], y, variance, kernel }];
  });
  // The scatter is not known before a plane is: the first one takes all observations as equally good.
  let scatter = 0;
  let fitted = solve(inside.map(({ row, y, kernel }) => ({ row, y, weight: kernel })));
  if (fitted === undefined) return undefined;
  for (let round = 0; round < 2; round++) {
    scatter = scatterAround(inside, fitted.coefficients);
    const tau = scatter;
    fitted = solve(
      inside.map(({ row, y, variance, kernel }) => ({ row, y, weight: kernel / (variance + tau + 1e-4) })),
    );
    if (fitted === undefined) return undefined;
  }
  const { influence } = fitted;
  const variance = inside.reduce((sum, one, i) => sum + (influence[i] ?? 0) ** 2 * (one.variance + scatter), 0);
  return { estimate: fitted.coefficients[0] ?? Number.NaN, se: Math.sqrt(variance), near };
}

/** What observations scatter around the plane beyond what their own variance explains, weighted by the kernel. */
function scatterAround(
  inside: readonly {
    readonly row: readonly number[];
    readonly y: number;
    readonly variance: number;
    readonly kernel: number;
  }[],
  coefficients: readonly number[],
): number {
  let squares = 0;
  let weights = 0;
  for (const { row, y, variance, kernel } of inside) {
    const residual = y - row.reduce((sum, value, i) => sum + value * (coefficients[i] ?? 0), 0);
    squares += kernel * (residual ** 2 - variance);
    weights += kernel;
  }
  return Math.max(0, squares / weights);
}

interface Weighted {
  readonly row: readonly number[];
  readonly y: number;
  readonly weight: number;
}

/** Ridge least squares by the normal equations; `influence[i]` is how much the estimate moves with y of i. */
function solve(data: readonly Weighted[]): { coefficients: number[]; influence: number[] } | undefined {
  const size = data[0]?.row.length ?? 0;
  const total = data.reduce((sum, { weight }) => sum + weight, 0);
  const matrix = Array.from({ length: size }, (_, i) =>
    Array.from(
      { length: size },
      (_unused, j) =>
        data.reduce((sum, { row, weight }) => sum + weight * (row[i] ?? 0) * (row[j] ?? 0), 0) +
        (i === j && i > 0 ? RIDGE * total : 0),
    ),
  );
  const inverse = invert(matrix);
  if (inverse === undefined) return undefined;
  const applied = (row: readonly number[], weight: number, of: number): number =>
    weight * row.reduce((sum, value, k) => sum + (inverse[of]?.[k] ?? 0) * value, 0);
  return {
    coefficients: Array.from({ length: size }, (_, i) =>
      data.reduce((sum, { row, y, weight }) => sum + applied(row, weight, i) * y, 0),
    ),
    influence: data.map(({ row, weight }) => applied(row, weight, 0)),
  };
}

/** Gauss-Jordan with pivots; undefined for a singular matrix. */
function invert(matrix: readonly (readonly number[])[]): number[][] | undefined {
  const size = matrix.length;
  const work = matrix.map((row, i) => [...row, ...Array.from({ length: size }, (_, j) => (i === j ? 1 : 0))]);
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let i = column + 1; i < size; i++)
      if (Math.abs(work[i]?.[column] ?? 0) > Math.abs(work[pivot]?.[column] ?? 0)) pivot = i;
    const [chosen, other] = [work[pivot], work[column]];
    if (chosen === undefined || other === undefined || Math.abs(chosen[column] ?? 0) < 1e-12) return undefined;
    work[pivot] = other;
    const scale = chosen[column] ?? 1;
    const normal = chosen.map((value) => value / scale);
    work[column] = normal;
    for (let i = 0; i < size; i++) {
      const factor = i === column ? 0 : (work[i]?.[column] ?? 0);
      if (factor !== 0) work[i] = (work[i] ?? []).map((value, j) => value - factor * (normal[j] ?? 0));
    }
  }
  return work.map((row) => row.slice(size));
}
