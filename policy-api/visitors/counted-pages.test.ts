import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COUNTED_PAGES_MAX, type CountedPage, countPage, type PageFate, REPORT_LIFE_MS } from "./counted-pages.ts";
import { NOON_MS } from "../decision/testing.ts";

interface News {
  readonly nonce: string;
  readonly isReport: boolean;
  readonly atMs?: number;
}

const decision = (nonce: string, atMs = NOON_MS): News => ({ nonce, atMs, isReport: false });
const reported = (nonce: string, atMs = NOON_MS): News => ({ nonce, atMs, isReport: true });

function count(news: readonly News[], nowMs = NOON_MS, before: readonly CountedPage[] = []) {
  const fates: PageFate[] = [];
  let held = before;
  for (const { nonce, atMs = NOON_MS, isReport } of news) {
    const counted = countPage(held, { nonce, atMs }, isReport, nowMs);
    fates.push(counted.fate);
    held = counted.pages;
  }
  return { held, fates };
}

describe("countPage", () => {
  it.each<[string, readonly News[], readonly PageFate[]]>([
    ["a decision, and its report", [decision("a"), reported("a")], ["first", "decided"]],
    ["a report, and its decision later", [reported("a"), decision("a")], ["first", "replayed"]],
    ["a decision twice", [decision("a"), decision("a"), reported("a")], ["first", "replayed", "decided"]],
    ["a report twice", [reported("a"), reported("a")], ["first", "replayed"]],
    [
      "both twice",
      [decision("a"), reported("a"), decision("a"), reported("a")],
      ["first", "decided", "replayed", "replayed"],
    ],
    [
      "of two pages",
      [decision("a"), reported("b"), decision("b"), reported("a")],
      ["first", "first", "replayed", "decided"],
    ],
  ])("%s", (_name, news, fates) => {
    expect(count(news).fates).toEqual(fates);
  });

  it("counts so many pages of a client, and more when the first are forgotten", () => {
    const many = Array.from({ length: COUNTED_PAGES_MAX + 3 }, (_, i) =>
      i % 2 === 0 ? decision(`n${i}`, NOON_MS + i) : reported(`n${i}`, NOON_MS + i),
    );
    const full = count(many, NOON_MS + 100);
    expect(full.fates.filter((fate) => fate === "crowded")).toHaveLength(3);
    expect(full.held).toHaveLength(COUNTED_PAGES_MAX);
    // The report of a page that is counted is taken all the same.
    expect(count([reported("n0", NOON_MS)], NOON_MS + 100, full.held)).toMatchObject({ fates: ["decided"] });
    expect(count([reported("late", NOON_MS)], NOON_MS + REPORT_LIFE_MS, full.held).fates).toEqual(["crowded"]);
    const later = NOON_MS + 2 * REPORT_LIFE_MS;
    expect(count([reported("next", later)], later, full.held).held).toEqual([{ nonce: "next", atMs: later }]);
  });

  it("in any order, with repeats, each page is counted once and reports once, and what is held is bounded", () => {
    const step = fc.record({ nonce: fc.nat(60), ms: fc.nat(120_000), isReport: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        let held: readonly CountedPage[] = [];
        let nowMs = NOON_MS;
        const decidedMs = new Map<number, number>();
        const pages = new Map<number, number>();
        const reports = new Map<number, number>();
        for (const { nonce, ms, isReport } of steps) {
          nowMs += ms;
          const atMs = decidedMs.get(nonce) ?? nowMs;
          decidedMs.set(nonce, atMs);
          // The isolate drops what is later than that.
          if (nowMs - atMs > REPORT_LIFE_MS) continue;
          const counted = countPage(held, { nonce: String(nonce), atMs }, isReport, nowMs);
          held = counted.pages;
          if (counted.fate === "first") pages.set(nonce, (pages.get(nonce) ?? 0) + 1);
          if (isReport && (counted.fate === "first" || counted.fate === "decided"))
            reports.set(nonce, (reports.get(nonce) ?? 0) + 1);
          expect(held.length).toBeLessThanOrEqual(COUNTED_PAGES_MAX);
        }
        for (const [nonce, times] of reports) expect([times, pages.get(nonce)]).toEqual([1, 1]);
        expect(Math.max(0, ...pages.values())).toBeLessThanOrEqual(1);
      }),
    );
  });
});
