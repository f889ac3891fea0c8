import { describe, expect, it } from "vitest";
import { stayingOf } from "./staying.ts";
import { clientDay, numbers, sumOf } from "./testing.ts";

/** Clients of one to five pages, none of which reports, and one more for a share `more` of them. */
function visitors(clients: number, seed: number, more = 0) {
  const next = numbers(seed);
  const pages = (): number => 1 + Math.floor(next() * 5) + (next() < more ? 1 : 0);
  return sumOf(Array.from({ length: clients }, () => clientDay([], pages())));
}

describe("stayingOf", () => {
  it("sees that those offered stay longer, though no page reports", () => {
    const found = stayingOf({ offered: visitors(3000, 1, 0.6), withheld: visitors(3000, 2) });
    expect(found?.value).toBeCloseTo(Math.log(3.6 / 3), 1);
    expect(found?.low).toBeGreaterThan(0);
  });

  it("sees nothing where nobody stays longer", () => {
    const found = stayingOf({ offered: visitors(3000, 1), withheld: visitors(3000, 2) });
    expect(found?.low).toBeLessThan(0);
    expect(found?.high).toBeGreaterThan(0);
  });

  it("is nothing of few clients", () => {
    expect(stayingOf({ offered: visitors(99, 1), withheld: visitors(3000, 2) })).toBeUndefined();
  });
});
