export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A vertex of the lattice: where it lies, and its gain; undefined where a cell is missing. */
export interface GainVertex extends Point {
  readonly gain: number | undefined;
}

/** A piece of the zero line; closed where its first and last points are the same. */
export type Polyline = readonly Point[];

/**
 * Where the gain is zero over a lattice of cells, by linear interpolation between neighbours (marching squares). A
 * square with a missing corner has no line. A tie keeps its estimated gain: the line is where equality is likeliest.
 *
 * `lattice[row][column]` is what the topology comes from; the coordinates of a vertex are its own. So the same function
 * draws the line over configured values (a regular grid) and over the RTT and loss that were measured (a bent one).
 */
export function zeroLine(lattice: readonly (readonly GainVertex[])[]): Polyline[] {
  const segments: Segment[] = [];
  for (const [row, vertices] of lattice.entries())
    for (const column of vertices.keys()) {
      const [first, second] = [lattice[row]?.[column], lattice[row]?.[column + 1]];
      const [fourth, third] = [lattice[row + 1]?.[column], lattice[row + 1]?.[column + 1]];
      if (!isMeasured(first) || !isMeasured(second) || !isMeasured(third) || !isMeasured(fourth)) continue;
      // Edges are named by their lattice position, so that neighbouring squares meet in the very same point.
      const crossings = [
        ...crossing(`${row},${column}-`, first, second),
        ...crossing(`${row},${column + 1}|`, second, third),
        ...crossing(`${row + 1},${column}-`, third, fourth),
        ...crossing(`${row},${column}|`, fourth, first),
      ];
      // Four are a saddle: the sign in the middle says which opposite corners are joined, and the line cuts off the others.
      const middle = (first.gain + second.gain + third.gain + fourth.gain) / 4;
      if (crossings.length === 4 && isPositive(middle) !== isPositive(first.gain))
        crossings.unshift(...crossings.splice(3));
      if (crossings.length > 0) segments.push(crossings.slice(0, 2));
      if (crossings.length > 2) segments.push(crossings.slice(2));
    }
  return chain(segments).map(withoutRepeats);
}

type Measured = Point & { readonly gain: number };

interface Crossing extends Point {
  readonly edge: string;
}

/** From one crossing of a square's edges to another. */
type Segment = readonly Crossing[];

function isMeasured(vertex: GainVertex | undefined): vertex is Measured {
  return vertex?.gain !== undefined && Number.isFinite(vertex.gain);
}

/** Zero counts as positive: then every square has an even number of crossings. */
function isPositive(gain: number): boolean {
  return gain >= 0;
}

/** Where the gain is zero on an edge, if it changes its sign there. */
function crossing(edge: string, from: Measured, to: Measured): Crossing[] {
  if (isPositive(from.gain) === isPositive(to.gain)) return [];
  const way = from.gain / (from.gain - to.gain);
  return [{ edge, x: from.x + way * (to.x - from.x), y: from.y + way * (to.y - from.y) }];
}

/** Joins segments that share an edge. An edge has at most two, so an open piece begins at an edge that has one. */
function chain(segments: readonly Segment[]): Crossing[][] {
  const ends = segments.flat();
  const used = new Set<Segment>();
  const touching = (edge: string): Segment[] => segments.filter((segment) => segment.some((end) => end.edge === edge));
  const follow = (start: Crossing): Crossing[] => {
    const segment = touching(start.edge).find((candidate) => !used.has(candidate));
    const next = segment?.find(({ edge }) => edge !== start.edge);
    if (segment === undefined || next === undefined) return [start];
    used.add(segment);
    return [start, ...follow(next)];
  };
  const openEnds = ends.filter(({ edge }) => touching(edge).length === 1);
  return [...openEnds, ...ends].map(follow).filter((piece) => piece.length > 1);
}

/** A vertex of gain 0 is a crossing of two or more edges: it is one point of the line. */
function withoutRepeats(crossings: readonly Crossing[]): Polyline {
  return crossings
    .filter(({ x, y }, index) => index === 0 || crossings[index - 1]?.x !== x || crossings[index - 1]?.y !== y)
    .map(({ x, y }) => ({ x, y }));
}
