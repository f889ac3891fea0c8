import { describe, expect, it } from "vitest";
import { OFFER_ROW, type OfferRow } from "../../model/offer-row.ts";
import { blankRow } from "../../model/row-schema.ts";
import { equivalenceOf } from "./equivalence.ts";

const row = (treatment: string, page: number, loadMs: number, files = "22"): OfferRow =>
  blankRow(OFFER_ROW, {
    network: "30 ms",
    congestion: "cubic",
    treatment,
    page,
    loadMs,
    files,
    outcome: "ok",
    documentProtocol: "h2",
  });
/** Ten of each page; times differ by a percent or so. */
const visits = (offeredMs: number, files = "33"): OfferRow[] =>
  [1, 2, 3].flatMap((page) =>
    Array.from({ length: 10 }, (_, i) => [
      row("never", page, 1_000 * (1 + i / 500)),
      row("first", page, offeredMs * (1 + ((i * 7) % 10) / 500), files),
    ]).flat(),
  );

describe("equivalenceOf", () => {
  it("finds two clients alike that change as much by an offer, whatever their times are", () => {
    const slower = visits(800).map((one) => ({ ...one, loadMs: (one.loadMs ?? 0) * 1.7 }));
    const found = equivalenceOf(visits(800), slower);
    expect(found.isEquivalent).toBe(true);
    expect(found.pages).toHaveLength(3);
    expect(found.pooled.gain.difference).toBeCloseTo(0, 6);
    expect(found.pages[0]?.gain.browser).toBeCloseTo(Math.log(1 / 0.8), 2);
  });

  it("tells a client that gains ten points more", () => {
    const found = equivalenceOf(visits(800), visits(720));
    expect(found.isEquivalent).toBe(false);
    expect(found.pooled.gain.difference).toBeCloseTo(Math.log(800 / 720), 2);
    expect(found.pages.every(({ differs }) => differs)).toBe(true);
  });

  it("tells one whose files come over something else", () => {
    const found = equivalenceOf(visits(800), visits(800, "32"));
    expect(found.isEquivalent).toBe(false);
    expect(found.pooled.filesH3.difference).toBeCloseTo(-0.5, 6);
  });

  it("compares with the pauses of a treatment's own, and leaves out what has too few pages", () => {
    const paused = visits(800).map((one) => ({ ...one, treatment: `${one.treatment}, 40 s` }));
    expect(equivalenceOf(paused, paused).pages.map(({ treatment }) => treatment)).toEqual(
      Array.from({ length: 3 }, () => "first, 40 s"),
    );
    expect(equivalenceOf(visits(800), visits(800).slice(0, 4)).pages).toEqual([]);
  });
});
