import { describe, expect, it } from "vitest";
import { zeroLine, type GainVertex, type Point } from "./zero-line.ts";

/** A lattice of `gain(x, y)` over whole numbers. */
function lattice(columns: number, rows: number, gain: (x: number, y: number) => number | undefined): GainVertex[][] {
  return Array.from({ length: rows }, (_, y) =>
    Array.from({ length: columns }, (__, x) => ({ x, y, gain: gain(x, y) })),
  );
}

function onlyPiece(cells: readonly (readonly GainVertex[])[]): readonly Point[] {
  const pieces = zeroLine(cells);
  expect(pieces).toHaveLength(1);
  return pieces.flat();
}

const rounded = (points: readonly Point[]): string[] =>
  points.map(({ x, y }) => `${x.toFixed(3)},${y.toFixed(3)}`).toSorted();

describe("known answers", () => {
  it("finds a straight line exactly, in one piece and in order", () => {
    const piece = onlyPiece(lattice(6, 5, (x, y) => x + y - 3.5));
    for (const { x, y } of piece) expect(x + y).toBeCloseTo(3.5, 12);
    for (const [index, point] of piece.entries()) {
      const before = piece[index - 1];
      if (before !== undefined) expect(Math.hypot(point.x - before.x, point.y - before.y)).toBeLessThan(1);
    }
    expect(rounded([...piece.slice(0, 1), ...piece.slice(-1)])).toEqual(["0.000,3.500", "3.500,0.000"]);
  });

  it("interpolates between neighbours by their gains", () => {
    const piece = onlyPiece(lattice(2, 2, (x) => (x === 0 ? -1 : 3)));
    expect(rounded(piece)).toEqual(["0.250,0.000", "0.250,1.000"]);
  });

  it("closes a ring", () => {
    const piece = onlyPiece(lattice(5, 5, (x, y) => (x === 2 && y === 2 ? 1 : -1)));
    expect(piece[0]).toEqual(piece.at(-1));
    expect(rounded(piece.slice(1))).toEqual(["1.500,2.000", "2.000,1.500", "2.000,2.500", "2.500,2.000"]);
  });

  it("gives two pieces where there are two", () => {
    expect(zeroLine(lattice(5, 3, (x) => (x === 2 ? 1 : -1)))).toHaveLength(2);
  });

  it.each([
    ["joins the positive corners of a saddle with a positive middle", 3, ["0.250,0.000", "0.000,0.250"]],
    ["joins the negative corners of one with a negative middle", 1 / 3, ["0.750,0.000", "0.000,0.750"]],
  ])("%s", (_, high, ends) => {
    // Corners -1 at (0, 0) and (1, 1), `high` at the others: the crossing lies 1 / (1 + high) of the way.
    const pieces = zeroLine(lattice(2, 2, (x, y) => (x === y ? -1 : high)));
    expect(pieces).toHaveLength(2);
    const around = (x: number, y: number): boolean =>
      pieces.some((piece) => piece.every((point) => Math.abs(point.x - x) <= 0.5 && Math.abs(point.y - y) <= 0.5));
    expect([around(0, 0), around(1, 0)]).toEqual(high > 1 ? [true, false] : [false, true]);
    expect(pieces.flat().map(({ x, y }) => `${x.toFixed(3)},${y.toFixed(3)}`)).toEqual(expect.arrayContaining(ends));
  });
});

it("follows the measured coordinates of the cells", () => {
  const bent = lattice(3, 3, (x) => x - 1.5).map((row) =>
    row.map(({ x, y, gain }) => ({ x: 10 * x + 2 * y, y: y + 0.1 * x, gain })),
  );
  const piece = onlyPiece(bent);
  expect(rounded(piece)).toEqual(["15.000,0.150", "17.000,1.150", "19.000,2.150"]);
});

describe("what is not a plain sign change", () => {
  it("has no line where all gains have one sign, or nothing was measured", () => {
    expect(zeroLine(lattice(3, 3, () => 1))).toEqual([]);
    expect(zeroLine(lattice(3, 3, () => undefined))).toEqual([]);
    expect(zeroLine(lattice(3, 3, () => Number.NaN))).toEqual([]);
    expect(zeroLine([])).toEqual([]);
    expect(zeroLine(lattice(1, 4, (_, y) => y - 1.5))).toEqual([]);
  });

  it("leaves a gap at a missing cell", () => {
    const pieces = zeroLine(lattice(6, 2, (x, y) => (x === 2 && y === 1 ? undefined : y - 0.5)));
    expect(pieces.map((piece) => piece.map(({ x }) => x).toSorted((a, b) => a - b))).toEqual([
      [0, 1],
      [3, 4, 5],
    ]);
  });

  it("goes through a vertex of gain 0 once", () => {
    const piece = onlyPiece(lattice(3, 3, (x, y) => x + y - 2));
    expect(rounded(piece)).toEqual(["0.000,2.000", "1.000,1.000", "2.000,0.000"]);
  });
});
