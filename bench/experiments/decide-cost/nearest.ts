/** The least that a decision could be: figures at the nodes of a lattice, of which the nearest is taken as it is. */
export interface PlainTable {
  readonly axes: readonly [Float64Array, Float64Array, Float64Array, Float64Array];
  /** As core's lattices have them: the first axis runs fastest. */
  readonly figures: Float64Array;
}

/** The figure at the node that is nearest on each axis: four binary searches and one read. */
export function nearestFigure({ axes, figures }: PlainTable, a: number, b: number, c: number, d: number): number {
  const [first, second, third, fourth] = axes;
  const row = nearestIndex(fourth, d) * third.length + nearestIndex(third, c);
  return figures[(row * second.length + nearestIndex(second, b)) * first.length + nearestIndex(first, a)] ?? Number.NaN;
}

/** The index of the nearest of increasing values; of two that are as near, the smaller. */
export function nearestIndex(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low > 0 && value - (values[low - 1] ?? 0) <= (values[low] ?? 0) - value ? low - 1 : low;
}
