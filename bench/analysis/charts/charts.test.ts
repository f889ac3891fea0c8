import type { TopLevelSpec } from "vega-lite";
import { describe, expect, it } from "vitest";
import { zeroLine } from "../statistics/zero-line.ts";
import { armBars, type ArmTime } from "./arm-bars.ts";
import { renderSvg } from "./chart.ts";
import { gainHeatMaps, type GainMap } from "./gain-heat-maps.ts";
import { ratioSeries } from "./ratio-series.ts";

const TIMES: readonly ArmTime[] = [
  { network: "0 %, 0 ms", arm: "fixed-h2", loadMs: 400, lowMs: 390, highMs: 412, publishedMs: 446.74 },
  { network: "0 %, 0 ms", arm: "fixed-h3", loadMs: 480, lowMs: 470, highMs: 495, publishedMs: 535.73 },
  { network: "0 %, 0 ms", arm: "always-offer", loadMs: 500, lowMs: 480, highMs: 520 },
  { network: "5 %, 25 ms", arm: "fixed-h2", loadMs: 28_000, lowMs: 22_000, highMs: 33_000, publishedMs: 92_879.67 },
  { network: "5 %, 25 ms", arm: "bare", loadMs: 20_000 },
];

const MAP: GainMap = {
  rateMbps: 200,
  cells: [0, 2.5, 5].flatMap((lossPercent) =>
    [0, 10, 20].map((delayMs) => ({
      delayMs,
      lossPercent,
      ratio: lossPercent === 0 && delayMs === 20 ? undefined : 0.8 + lossPercent / 10 + delayMs / 50,
      tie: lossPercent === 2.5 && delayMs === 0,
    })),
  ),
  zeroLine: zeroLine([
    [
      { x: 0, y: 0, gain: -0.2 },
      { x: 10, y: 0, gain: -0.1 },
    ],
    [
      { x: 0, y: 2.5, gain: 0.05 },
      { x: 10, y: 2.5, gain: 0.25 },
    ],
  ]),
};

const GAIN = { title: "Gain", subtitle: "Of HTTP/3." };

const PICTURES: Readonly<Record<string, { spec: TopLevelSpec; texts: readonly string[] }>> = {
  armBars: {
    spec: armBars(TIMES, { title: "Load time" }),
    texts: ["Load time", "mean load time (ms)", "0 %, 0 ms", "5 %, 25 ms", "always-offer", "Hollow: published."],
  },
  gainHeatMaps: {
    spec: gainHeatMaps([MAP, { ...MAP, rateMbps: 50 }], GAIN),
    texts: ["delay, one way (ms)", "loss (%)", "50 Mbit/s", "200 Mbit/s", "+70", "\u221220", "×"],
  },
  ratioSeries: {
    spec: ratioSeries(
      [
        { label: "0", of: "cubic", ratio: 0.96, low: 0.94, high: 0.99 },
        { label: "50", of: "bbr", ratio: 1.5, low: 1.4, high: 1.6 },
        { label: "50", of: "published", ratio: 1 },
      ],
      { title: "Over delay", axis: "delay, one way (ms)", labels: ["0", "50", "100"] },
    ),
    texts: [
      "Over delay",
      "delay, one way (ms)",
      "HTTP/2's mean load time over HTTP/3's",
      "cubic",
      "bbr",
      "published",
      "100",
    ],
  },
};

describe.each(Object.entries(PICTURES))("%s", (_, { spec, texts }) => {
  it("is the same picture each time, says its axes and units, and nothing undefined", async () => {
    // Two at once: neither may disturb the other's numbering.
    const [svg, again] = await Promise.all([renderSvg(spec), renderSvg(spec)]);
    expect(again).toBe(svg);
    expect(svg).not.toMatch(/NaN|undefined|Infinity|null/);
    const written = textsOf(svg);
    for (const text of texts) expect(written.join("\n")).toContain(text);
  });

  it("fits a document 900 px wide", async () => {
    const width = Number(/^<svg[^>]* width="([\d.]+)"/.exec(await renderSvg(spec))?.[1]);
    expect(width).toBeGreaterThan(200);
    expect(width).toBeLessThanOrEqual(900);
  });
});

describe("marks", () => {
  it("armBars: a filled one for each measured arm, a hollow one for each published", async () => {
    const svg = await renderSvg(armBars(TIMES, { title: "Load time" }));
    expect(marks(svg, "mark-symbol role-mark")).toBe(5 + 3);
    expect(marks(svg, "mark-rule role-mark")).toBe(4);
  });

  it("gainHeatMaps: a box and a figure for each cell, hatching for each tie, a line for each piece", async () => {
    const svg = await renderSvg(gainHeatMaps([MAP], GAIN));
    expect(marks(svg, "mark-rect role-mark")).toBe(9);
    expect(textsOf(svg).filter((text) => /^[+\u2212×0]\d*$/.test(text)).length).toBeGreaterThanOrEqual(9);
    expect(marks(svg, "mark-symbol role-mark")).toBe(1);
    expect(marks(svg, "mark-line role-mark")).toBe(1);
  });

  it("gainHeatMaps: orange is where HTTP/3 is faster", async () => {
    const cell = (ratio: number): GainMap => ({
      rateMbps: 1,
      cells: [{ delayMs: 0, lossPercent: 0, ratio, tie: false }],
      zeroLine: [],
    });
    const colourOf = async (ratio: number): Promise<number[]> => {
      const svg = await renderSvg(gainHeatMaps([cell(ratio)], GAIN));
      const fill = /mark-rect role-mark.*?fill="rgb\((\d+), (\d+), (\d+)\)"/.exec(svg)?.slice(1) ?? [];
      return fill.map(Number);
    };
    const [red = 0, , blue = 0] = await colourOf(1.3);
    expect(red).toBeGreaterThan(blue);
    const [redBelow = 0, , blueBelow = 0] = await colourOf(1 / 1.3);
    expect(blueBelow).toBeGreaterThan(redBelow);
  });
});

it("draws no rows, and refuses what Vega would only log", async () => {
  expect(await renderSvg(armBars([], { title: "Load time" }))).toContain("Load time");
  const wrong: TopLevelSpec = {
    data: { values: [{ x: 1 }] },
    mark: "point",
    encoding: { color: { field: "x", type: "quantitative", scale: { scheme: "nosuchscheme" as "viridis" } } },
  };
  await expect(renderSvg(wrong)).rejects.toThrow(/nosuchscheme/);
  // And the next picture is drawn all the same.
  expect(await renderSvg(armBars([], { title: "Load time" }))).toContain("Load time");
});

function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<t(?:ext|span)[^>]*>([^<]*)/g)].map(([, text]) => text ?? "");
}

/** Marks in the groups of this class; a line is one path. */
function marks(svg: string, group: string): number {
  return [...svg.matchAll(new RegExp(`<g class="${group}[^"]*"[^>]*>(.*?)</g>`, "g"))].flatMap(([, inside = ""]) => [
    ...inside.matchAll(/<(path|text|line|rect)\b/g),
  ]).length;
}
