import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CountedPage, countPages, REPORT_LIFE_MS, REPORTS_MAX } from "./counted-pages.ts";
import { outcomeOf, type PageNews } from "./page-outcome.ts";
import { NOON_MS } from "../core/testing.ts";
import { pageDecision, pageNews, pageReport } from "./testing-pages.ts";

const newsAt = (nonce: string, atMs: number): PageNews =>
  pageNews(nonce, { outcome: outcomeOf(pageDecision({ atMs }), pageReport(), { transport: "tcp" }) });

describe("countPages", () => {
  it("counts each page once, also within one batch", () => {
    const first = countPages([], [pageNews("a"), pageNews("b"), pageNews("a")], NOON_MS);
    expect(first).toMatchObject({ fresh: [{ nonce: "a" }, { nonce: "b" }], replayed: 1, crowded: 0 });
    const second = countPages(first.held, [pageNews("b"), pageNews("c")], NOON_MS + 1);
    expect(second).toMatchObject({ fresh: [{ nonce: "c" }], replayed: 1, crowded: 0 });
  });

  it("takes so many of a client, and more when the first are forgotten", () => {
    const many = Array.from({ length: REPORTS_MAX + 3 }, (_, i) => newsAt(`n${i}`, NOON_MS + i));
    const full = countPages([], many, NOON_MS + 100);
    expect([full.fresh.length, full.crowded, full.held.length]).toEqual([REPORTS_MAX, 3, REPORTS_MAX]);
    expect(countPages(full.held, [newsAt("late", NOON_MS)], NOON_MS + REPORT_LIFE_MS).crowded).toBe(1);
    const later = NOON_MS + 2 * REPORT_LIFE_MS;
    expect(countPages(full.held, [newsAt("next", later)], later)).toMatchObject({ held: [{ nonce: "next" }] });
  });

  it("no order of reports and repeats makes one count twice while it is taken", () => {
    const step = fc.record({ nonce: fc.nat(60), ms: fc.nat(120_000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let held: readonly CountedPage[] = [];
        let nowMs = NOON_MS;
        const decidedMs = new Map<number, number>();
        const counted = new Map<number, number>();
        for (const { nonce, ms } of steps) {
          nowMs += ms;
          const atMs = decidedMs.get(nonce) ?? nowMs;
          decidedMs.set(nonce, atMs);
          // The isolate drops what is later than that.
          if (nowMs - atMs > REPORT_LIFE_MS) continue;
          const result = countPages(held, [newsAt(String(nonce), atMs)], nowMs);
          held = result.held;
          counted.set(nonce, (counted.get(nonce) ?? 0) + result.fresh.length);
          expect(held.length).toBeLessThanOrEqual(REPORTS_MAX);
        }
        expect(Math.max(0, ...counted.values())).toBeLessThanOrEqual(1);
      }),
    );
  });
});
