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
 * @param observations `neighbours` of them at least
 * @param radius of the kernel; where fewer than `neighbours` lie within, it grows until it holds as many
 */
export function localRegression(
  observations: readonly Observation[],
  at: readonly number[],
  radius: number,
  neighbours: number,
): Fitted {
  const distances = observations.map(({ x }) => Math.hypot(...x.map((value, i) => value - (at[i] ?? 0))));
  const reach = Math.max(radius, 1.05 * (distances.toSorted((a, b) => a - b)[neighbours - 1] ?? 0));
  const inside = observations.flatMap(({ x, y, variance }, i) => {
    const share = (distances[i] ?? reach) / reach;
    const kernel = share >= 1 ? 0 : (1 - share ** 3) ** 3;
    return kernel === 0 ? [] : [{ row: [1, ...x.map((value, k) => value - (at[k] ?? 0))], y, variance, kernel }];
  });
  // The scatter is not known before a plane is: the first one takes all observations as equally good.
  let scatter = 0;
  let plane = planeThrough(inside.map((one) => ({ ...one, weight: one.kernel })));
  for (let round = 0; round < 2; round++) {
    const { coefficients } = plane;
    // What observations scatter around the plane beyond what their own variance explains, weighted by the kernel.
    const beyond = inside.map(({ row, y, variance }) => (y - dot(row, coefficients)) ** 2 - variance);
    const kernels = inside.map(({ kernel }) => kernel);
    const tau = Math.max(0, dot(kernels, beyond) / sum(kernels));
    plane = planeThrough(inside.map((one) => ({ ...one, weight: one.kernel / (one.variance + tau + 1e-4) })));
    scatter = tau;
  }
  const { coefficients, influence } = plane;
  return {
    estimate: coefficients[0] ?? Number.NaN,
    se: Math.sqrt(sum(inside.map(({ variance }, i) => (influence[i] ?? 0) ** 2 * (variance + scatter)))),
    near: distances.filter((distance) => distance <= radius).length,
  };
}

interface Weighted {
  readonly row: readonly number[];
  readonly y: number;
  readonly weight: number;
}

/** Ridge least squares by the normal equations; `influence[i]` is how much the estimate moves with y of i. */
function planeThrough(data: readonly Weighted[]): { coefficients: number[]; influence: number[] } {
  const ridge = RIDGE * sum(data.map(({ weight }) => weight));
  const columns = [...(data[0]?.row ?? []).keys()];
  // Beside the matrix the right-hand side, and the first column of the unit matrix, which becomes that of the inverse.
  let equations = columns.map((i) => [
    ...columns.map(
      (j) =>
        sum(data.map(({ row, weight }) => weight * (row[i] ?? 0) * (row[j] ?? 0))) + (i === j && i > 0 ? ridge : 0),
    ),
    sum(data.map(({ row, y, weight }) => weight * (row[i] ?? 0) * y)),
    i === 0 ? 1 : 0,
  ]);
  // Gauss and Jordan's elimination, without pivots: the ridge keeps the matrix positive definite.
  for (const column of columns) {
    const scale = equations[column]?.[column] ?? 1;
    const pivot = (equations[column] ?? []).map((value) => value / scale);
    equations = equations.map((equation, i) =>
      i === column ? pivot : equation.map((value, j) => value - (equation[column] ?? 0) * (pivot[j] ?? 0)),
    );
  }
  const inverse = equations.map((equation) => equation.at(-1) ?? 0);
  return {
    coefficients: equations.map((equation) => equation.at(-2) ?? 0),
    influence: data.map(({ row, weight }) => weight * dot(row, inverse)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function dot(one: readonly number[], other: readonly number[]): number {
  return sum(one.map((value, i) => value * (other[i] ?? 0)));
}
