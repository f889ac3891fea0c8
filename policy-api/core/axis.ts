/** One axis of a lattice. Its coordinates increase, and the lattice's figures are about linear in them. */
export interface Axis {
  readonly coordinates: Float64Array;
  /** How far apart two neighbours on this axis are in the list of figures. */
  readonly stride: number;
}

/**
 * Where a coordinate is on an axis, in nodes: 2.5 is half way from the third to the fourth. Outside: the nearest end.
 */
export function positionOn({ coordinates }: Axis, coordinate: number): number {
  const last = coordinates.length - 1;
  // Times do not depend on this axis: any value will do.
  if (last === 0) return Number.isNaN(coordinate) ? Number.NaN : 0;
  // As in times.ts: a missing number compares as NaN does.
  if (coordinate <= (coordinates[0] as number)) return 0;
  if (coordinate >= (coordinates[last] as number)) return last;
  let index = 0;
  while ((coordinates[index + 1] as number) <= coordinate) index++;
  const from = coordinates[index] as number;
  const to = coordinates[index + 1] as number;
  return index + (coordinate - from) / (to - from);
}

/** How far outside an axis a coordinate is. 0 for any coordinate if the axis has one value. */
export function distanceOutside({ coordinates }: Axis, coordinate: number): number {
  const last = coordinates.length - 1;
  const low = coordinates[0] as number;
  const high = coordinates[last] as number;
  if (last === 0) return 0;
  return coordinate < low ? low - coordinate : coordinate > high ? coordinate - high : 0;
}
