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
      segments.push(
        ...segmentsOf([
          { name: `${row},${column}-`, from: first, to: second },
          { name: `${row},${column + 1}|`, from: second, to: third },
          { name: `${row + 1},${column}-`, from: third, to: fourth },
          { name: `${row},${column}|`, from: fourth, to: first },
        ]),
      );
    }
  return chain(segments).map(withoutRepeats);
}

type Measured = Point & { readonly gain: number };

interface Edge {
  readonly name: string;
  readonly from: Measured;
  readonly to: Measured;
}

interface Crossing extends Point {
  readonly edge: string;
}

type Segment = readonly [Crossing, Crossing];

function isMeasured(vertex: GainVertex | undefined): vertex is Measured {
  return vertex?.gain !== undefined && Number.isFinite(vertex.gain);
}

/** The pieces of line in one square, whose edges go around it. */
function segmentsOf(edges: readonly [Edge, Edge, Edge, Edge]): Segment[] {
  const [one, other, ...more] = edges.filter(({ from, to }) => isPositive(from.gain) !== isPositive(to.gain));
  if (one === undefined || other === undefined) return [];
  if (more.length === 0) return [[crossing(one), crossing(other)]];
  // A saddle: the sign in the middle says which opposite corners are joined, and the line cuts off the other two.
  const middle = edges.reduce((sum, { from }) => sum + from.gain, 0) / 4;
  const [first, second, third, fourth] = edges;
  return isPositive(middle) === isPositive(first.from.gain)
    ? [
        [crossing(first), crossing(second)],
        [crossing(third), crossing(fourth)],
      ]
    : [
        [crossing(fourth), crossing(first)],
        [crossing(second), crossing(third)],
      ];
}

/** Zero counts as positive: then every square has an even number of crossings. */
function isPositive(gain: number): boolean {
  return gain >= 0;
}

function crossing({ name, from, to }: Edge): Crossing {
  const way = from.gain / (from.gain - to.gain);
  return { edge: name, x: from.x + way * (to.x - from.x), y: from.y + way * (to.y - from.y) };
}

/** Joins segments that share an edge. An edge has at most two, so an open piece begins at an edge that has one. */
function chain(segments: readonly Segment[]): Crossing[][] {
  const touching = new Map<string, Segment[]>();
  for (const segment of segments)
    for (const { edge } of segment) touching.set(edge, [...(touching.get(edge) ?? []), segment]);
  const used = new Set<Segment>();
  const follow = (start: Crossing): Crossing[] => {
    const piece = [start];
    for (let at = start; ;) {
      const next = touching.get(at.edge)?.find((segment) => !used.has(segment));
      if (next === undefined) return piece;
      used.add(next);
      at = next[0].edge === at.edge ? next[1] : next[0];
      piece.push(at);
    }
  };
  const ends = segments.flat();
  const openEnds = ends.filter(({ edge }) => touching.get(edge)?.length === 1);
  return [...openEnds, ...ends].map(follow).filter((piece) => piece.length > 1);
}

/** A vertex of gain 0 is a crossing of two or more edges: it is one point of the line. */
function withoutRepeats(crossings: readonly Crossing[]): Polyline {
  return crossings
    .filter(({ x, y }, index) => {
      const before = crossings[index - 1];
      return before === undefined || before.x !== x || before.y !== y;
    })
    .map(({ x, y }) => ({ x, y }));
}
