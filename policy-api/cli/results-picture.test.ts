import fc from "fast-check";
import { expect, it } from "vitest";
import type { Results, Slice } from "../api/contract/results.ts";
import { resultsPicture } from "./results-picture.ts";

type Saved = NonNullable<Slice["load"]["saved"]>;

it("puts points and intervals where the axis says, and fills those that claim something", () => {
  const svg = pictureOf([
    { saved: { value: 0.04, low: 0.02, high: 0.06 }, claim: "faster" },
    { saved: { value: -0.01, low: -0.05, high: 0.03 }, claim: "none" },
    { saved: { value: -0.08, low: -0.1, high: -0.06 }, claim: "slower" },
  ]);
  const axis = axisOf(svg);
  expect(axis.labels).toEqual(["-10", "-8", "-6", "-4", "-2", "0", "2", "4", "6"]);
  expect(zeroOf(svg)).toBe(axis.y(0));
  expect(intervalsOf(svg)).toEqual(
    [
      [2, 6],
      [-5, 3],
      [-10, -6],
    ].map((ends) => ends.map((percent) => expect.closeTo(axis.y(percent), 0))),
  );
  expect(pointsOf(svg)).toEqual(
    (
      [
        ["claimed", 4],
        ["unclaimed", -1],
        ["claimed", -8],
      ] as const
    ).map(([look, percent]) => [look, expect.closeTo(axis.y(percent), 0)]),
  );
});

it("draws any interval inside the axes, on the side of the zero line where it lies", () => {
  const share = fc.double({ min: -20, max: 1, noNaN: true });
  const saved = fc.tuple(share, share, share).map((three): Saved => {
    const [low = 0, value = 0, high = 0] = three.toSorted((a, b) => a - b);
    return { low, value, high };
  });
  fc.assert(
    fc.property(fc.array(saved, { minLength: 1, maxLength: 6 }), (all) => {
      const svg = pictureOf(all.map((one) => ({ saved: one, claim: "none" })));
      expect(svg).not.toMatch(/NaN|Infinity|undefined|null/);
      const { labels, top, bottom } = axisOf(svg);
      expect(labels.length).toBeLessThanOrEqual(9);
      expect(new Set(labels).size).toBe(labels.length);
      const zero = zeroOf(svg);
      for (const [i, [low, high]] of intervalsOf(svg).entries()) {
        const { low: lowest = 0, high: highest = 0 } = all[i] ?? {};
        expect(low).toBeLessThanOrEqual(bottom);
        expect(high).toBeGreaterThanOrEqual(top);
        expect(low).toBeGreaterThanOrEqual(high);
        if (lowest > 0) expect(low).toBeLessThanOrEqual(zero);
        if (highest < 0) expect(high).toBeGreaterThanOrEqual(zero);
      }
    }),
  );
});

it("says of a class with too few clients that nothing can be said, and how many there are", () => {
  const svg = pictureOf([{ saved: { value: 0.04, low: 0.02, high: 0.06 }, claim: "faster" }, { clients: 60 }, {}]);
  expect(intervalsOf(svg)).toHaveLength(1);
  expect(textsOf(svg).filter((text) => text === "nothing can")).toHaveLength(2);
  expect(textsOf(svg).filter((text) => text === "60")).toHaveLength(2);
});

it("without any clients shows the zero line between 1 % and -1 %, and no points", () => {
  const svg = pictureOf([{}, {}, {}]);
  expect(axisOf(svg).labels).toEqual(["-1", "-0.5", "0", "0.5", "1"]);
  expect(zeroOf(svg)).toBe(axisOf(svg).y(0));
  expect([intervalsOf(svg), pointsOf(svg)]).toEqual([[], []]);
  expect(textsOf(svg)).toContain("What it says.");
});

it("names its axes with units, its classes, the version, and objects that did not answer", () => {
  const texts = textsOf(pictureOf([{}, {}, {}], { objects: { asked: 32, answered: 30 } }));
  for (const text of [
    "What offering HTTP/3 saves, by RTT",
    "load time saved (%)",
    "RTT",
    "under 10 ms",
    "10 ms and more",
  ])
    expect(texts).toContain(text);
  expect(texts.join("\n")).toMatch(/^Version 3\. /m);
  expect(texts.at(-1)).toBe("2 of 32 objects of the store did not answer: their clients are missing. What it says.");
});

it("writes the server's words as text, in lines that fit", () => {
  const sentence = `</desc><script>alert("1 & 2")</script>\u0007${" and more words".repeat(20)}`;
  const svg = pictureOf([{}, {}, {}], { sentence });
  expect(svg).not.toMatch(/<script|& |\p{Cc}(?<!\n)/u);
  expect(svg.match(/&lt;\/desc&gt;&lt;script&gt;alert\("1 &amp; 2"\)/g)).toHaveLength(2);
  expect(textsOf(svg).every((text) => text.length <= 125)).toBe(true);
  expect(textsOf(svg).filter((text) => text.includes("more words"))).toHaveLength(3);
});

interface Column {
  readonly saved?: Saved;
  readonly claim?: Slice["load"]["claim"]["kind"];
  /** In each arm. */
  readonly clients?: number;
}

/** All clients, then classes of RTT from 0, 10, 20 ms on. */
function pictureOf(columns: readonly Column[], over: Partial<Results> = {}): string {
  const [everyone = sliceOf({}), ...classes] = columns.map(sliceOf);
  return resultsPicture({
    version: 3,
    objects: { asked: 32, answered: 32 },
    sentence: "What it says.",
    harm: null,
    harmComparable: true,
    change: null,
    unused: null,
    everyone,
    staying: null,
    grounds: { offeredShare: null, expectedShare: 0.5, http3Elsewhere: null, objections: [] },
    rttClasses: classes.map((slice, i) => ({
      fromMs: 10 * i,
      toMs: i === classes.length - 1 ? null : 10 * (i + 1),
      ...slice,
    })),
    cells: [],
    autonomousSystems: [],
    autonomousSystemsLeftOut: 0,
    reportsHere: [],
    droppedHere: [],
    ...over,
  });
}

function sliceOf({ saved, claim = "none", clients = 0 }: Column): Slice {
  const load = clients === 0 ? null : { clients, meanMs: 800, p75Ms: 900, p99Ms: 2000 };
  const arm = { clients, pages: clients, counted: clients, reported: clients, overH3: null, load, lcp: null };
  const compared: Slice["load"] = {
    gain: null,
    saved: saved ?? null,
    ofChanged: null,
    claim: { kind: claim, interval: null, withstandsLies: null, objections: [] },
  };
  return { offered: arm, withheld: arm, primary: null, load: compared, lcp: compared };
}

/** The labels from below, and where a percentage stands by the lowest and the highest of them. */
function axisOf(svg: string) {
  const lines = [...svg.matchAll(/<line class="grid"[^>]* y1="([\d.]+)"/g)].map(([, y]) => Number(y));
  const labels = [...svg.matchAll(/class="end"[^>]*>(-?[\d.]+)</g)].map(([, label]) => label ?? "");
  const [bottom = 0, top = 0] = [lines[0], lines.at(-1)];
  const [low, high] = [Number(labels[0]), Number(labels.at(-1))];
  expect(lines).toHaveLength(labels.length);
  return { labels, top, bottom, y: (percent: number) => bottom - ((percent - low) / (high - low)) * (bottom - top) };
}

function zeroOf(svg: string): number {
  return Number(/class="zero"[^>]* y1="([\d.]+)"/.exec(svg)?.[1]);
}

/** Where each low end and each high end is, from above. */
function intervalsOf(svg: string): [low: number, high: number][] {
  return [...svg.matchAll(/class="interval"[^>]* y1="([\d.]+)"[^>]* y2="([\d.]+)"/g)].map(([, low, high]) => [
    Number(low),
    Number(high),
  ]);
}

function pointsOf(svg: string): (string | number)[][] {
  return [...svg.matchAll(/<circle class="(\w+)"[^>]* cy="([\d.]+)"/g)].map(([, look = "", y]) => [look, Number(y)]);
}

function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text = ""]) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
  );
}
