import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAbsurd, parsePageReport } from "./page-report.ts";
import { pageReport } from "./testing-pages.ts";

const L4 = "?proto=TCP&rtt=20000&min_rtt=18000&sent=60&lost=1&sent_bytes=80000&delivery_rate=1500000&cid=ab";
const WHOLE = {
  ...pageReport(),
  lcpMs: 300,
  files: [
    { protocol: "h2", count: 3, bytes: 50_000 },
    { protocol: "h3", count: 1, bytes: 300.5 },
  ],
  connections: [{ l4: L4, agoMs: 100 }],
};

const times = (n: number, item: unknown): readonly unknown[] => Array.from({ length: n }, () => item);
const faults = (input: unknown): readonly string[] => {
  const parsed = parsePageReport(input);
  return parsed.ok ? [] : parsed.faults.map(({ pointer }) => pointer);
};

describe("parsePageReport", () => {
  it("reads a whole report, and one of a page that was left before its load event", () => {
    expect(parsePageReport(WHOLE)).toMatchObject({
      ok: true,
      value: { ...WHOLE, connections: [{ l4: { rttMs: 20, packetsSent: 60 }, agoMs: 100 }] },
    });
    const { loadMs: _, lcpMs: __, ...left } = WHOLE;
    expect(parsePageReport({ ...left, files: [], connections: [] })).toMatchObject({ ok: true });
  });

  it("a reading of a form that nobody knows is left out, and the rest counts", () => {
    const parsed = parsePageReport({ ...WHOLE, connections: [{ l4: "?proto=MASQUE", agoMs: 1 }] });
    expect(parsed).toMatchObject({ ok: true, value: { connections: [{ l4: undefined }] } });
  });

  it.each<[string, unknown, readonly string[]]>([
    ["no object", "report", [""]],
    ["no token", { ...WHOLE, token: "" }, ["/token"]],
    ["a token that is too long", { ...WHOLE, token: "a".repeat(101) }, ["/token"]],
    ["no number", { ...WHOLE, loadMs: "400" }, ["/loadMs"]],
    ["a time before the navigation", { ...WHOLE, ttfbMs: -1 }, ["/ttfbMs"]],
    ["a load of two hours", { ...WHOLE, loadMs: 7.2e6, atMs: 7.2e6 }, ["/loadMs", "/atMs"]],
    ["parts of milliseconds", { ...WHOLE, ttfbMs: 0.5 }, ["/ttfbMs"]],
    ["more than all bytes", { ...WHOLE, files: [{ protocol: "h2", count: 1, bytes: 1e300 }] }, ["/files/0/bytes"]],
    ["more protocols than there are", { ...WHOLE, files: times(5, WHOLE.files[0]) }, ["/files"]],
    ["more connections than a page has", { ...WHOLE, connections: times(5, { l4: L4, agoMs: 0 }) }, ["/connections"]],
    ["another field", { ...WHOLE, url: "https://site.test/secret" }, ["/url"]],
  ])("refuses %s", (_name, input, pointers) => {
    expect(faults(input)).toEqual(pointers);
    const parsed = parsePageReport(input);
    expect(parsed.ok || isAbsurd(parsed.faults)).toBe(false);
  });

  it.each<[string, object, string]>([
    ["a set-up longer than the wait for the first byte", { connectMs: 200, ttfbMs: 100 }, "/connectMs"],
    ["a load before the first byte", { ttfbMs: 500, loadMs: 400 }, "/ttfbMs"],
    ["a report before the load", { loadMs: 400, atMs: 300 }, "/atMs"],
    ["a report before the paint", { lcpMs: 9_000, atMs: 8_000 }, "/atMs"],
    ["left before the first byte", { loadMs: undefined, lcpMs: undefined, ttfbMs: 9_000, atMs: 8_000 }, "/ttfbMs"],
    ["a reading from before the navigation", { connections: [{ l4: L4, agoMs: 9_000 }] }, "/connections/0/agoMs"],
    ["more lost than sent", { connections: [{ l4: L4.replace("lost=1", "lost=61"), agoMs: 1 }] }, "/connections/0/l4"],
    [
      "more packets than fit",
      { connections: [{ l4: L4.replace("sent=60", "sent=2000000000"), agoMs: 1 }] },
      "/connections/0/l4",
    ],
    [
      "an RTT in another unit",
      { connections: [{ l4: L4.replace("rtt=20000", "rtt=9999999999"), agoMs: 1 }] },
      "/connections/0/l4",
    ],
    [
      "a rate beyond all links",
      { connections: [{ l4: L4.replace("1500000", "99999999999999"), agoMs: 1 }] },
      "/connections/0/l4",
    ],
  ])("%s is absurd", (_name, over, pointer) => {
    const parsed = parsePageReport({ ...WHOLE, ...over });
    expect(parsed.ok ? [] : parsed.faults.map((fault) => fault.pointer)).toEqual([pointer]);
    expect(parsed.ok || isAbsurd(parsed.faults)).toBe(true);
  });

  it("never throws, and what it takes is within its bounds", () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.integer({ min: -5, max: 5_000 }),
      fc.constantFrom("h2", L4),
    );
    const counts = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(WHOLE)), value, (name, item) => {
        const parsed = parsePageReport({ ...WHOLE, [name]: item });
        counts[parsed.ok ? "taken" : "refused"]++;
        if (!parsed.ok) return;
        const { connectMs, ttfbMs, loadMs = parsed.value.atMs, atMs } = parsed.value;
        expect([connectMs, ttfbMs, loadMs, atMs]).toEqual([connectMs, ttfbMs, loadMs, atMs].toSorted((a, b) => a - b));
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(100);
  });
});
