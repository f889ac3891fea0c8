import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../decision/parse.ts";
import {
  ACCURACY,
  addTime,
  BUCKET_MAX,
  bucketOf,
  EMPTY_SKETCH,
  mergeSketches,
  msOf,
  quantileOf,
  readSketch,
  type Sketch,
} from "./quantiles.ts";

const anyTime = fc.double({ min: 1, max: 3_600_000, noNaN: true });
const sketchOf = (times: readonly number[]): Sketch => times.reduce(addTime, EMPTY_SKETCH);

describe("quantileOf", () => {
  it("is right to 2 % of the time itself, whatever the times are", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(anyTime, { minLength: 1, maxLength: 60 }), share, (times, q) => {
        const exact = times.toSorted((a, b) => a - b)[Math.floor(q * (times.length - 1))] ?? 0;
        const found = quantileOf(sketchOf(times), q) ?? 0;
        expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(ACCURACY + 1e-6);
      }),
    );
  });

  it("is nothing without pages", () => {
    expect(quantileOf(EMPTY_SKETCH, 0.75)).toBeUndefined();
  });
});

describe("sketches", () => {
  it("are the same in whichever order times come, and however they are merged", () => {
    fc.assert(
      fc.property(fc.array(anyTime), fc.array(anyTime), (a, b) => {
        expect(mergeSketches(sketchOf(a), sketchOf(b))).toEqual(sketchOf([...b, ...a]));
      }),
    );
  });

  it("have a bounded number of buckets", () => {
    expect(BUCKET_MAX).toBe(378);
    for (const ms of [-5, 0, 0.5, 1, 3_600_000, 1e12, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(bucketOf(ms)).toBeGreaterThanOrEqual(0);
      expect(bucketOf(ms)).toBeLessThanOrEqual(BUCKET_MAX);
    }
  });

  it("put a bucket's own time into that bucket", () => {
    for (let bucket = 1; bucket < BUCKET_MAX; bucket++) expect(bucketOf(msOf(bucket))).toBe(bucket);
  });
});

describe("readSketch", () => {
  it("reads back what was stored", () => {
    const sketch = sketchOf([120, 130, 5000, 4, 120]);
    expect(parse(readSketch, JSON.parse(JSON.stringify(sketch)))).toEqual({ ok: true, value: sketch });
  });

  it.each([
    ["/0", [7]],
    ["/0/0", [[BUCKET_MAX + 1, 1]]],
    ["/0/1", [[3, 0]]],
    [
      "/1/0",
      [
        [3, 1],
        [3, 1],
      ],
    ],
  ])("names the fault at %s", (pointer, json) => {
    const read = parse(readSketch, json);
    expect(read.ok ? [] : read.faults.map((fault) => fault.pointer)).toEqual([pointer]);
  });
});
