import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readRecorded } from "./recorded.ts";
import { RESULTS_PAGE, resultsPage } from "./write-pages.ts";

const written = readFileSync(RESULTS_PAGE, "utf8");

it("docs/results.md says what was recorded: `npm run bench -- results` writes it", () => {
  expect(written).toBe(resultsPage(readRecorded()));
});

it("says otherwise where another figure was recorded", () => {
  const recorded = readRecorded();
  const cells = recorded.limits.cells.map((cell) =>
    cell.ratio === undefined ? cell : { ...cell, ratio: { ...cell.ratio, estimate: cell.ratio.estimate * 1.5 } },
  );
  expect(resultsPage({ ...recorded, limits: { ...recorded.limits, cells } })).not.toBe(written);
});

it("points at files that are there, and has no figure that is not a number", () => {
  const links = [...written.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link ?? "");
  expect(links.length).toBeGreaterThan(8);
  for (const link of links) expect(existsSync(join(dirname(RESULTS_PAGE), link)), link).toBe(true);
  expect(written).not.toMatch(/NaN|undefined|Infinity/);
});

it("does not say what the figures do not: conclusions are tied to them", () => {
  const recorded = readRecorded();
  const sweep = recorded.sweep.sweep.map((one) => ({ ...one, h2AheadAtFirst: -one.h2AheadAtFirst }));
  expect(() => resultsPage({ ...recorded, sweep: { ...recorded.sweep, sweep } })).toThrow(
    "HTTP/2 is ahead without delay",
  );
  const findings = recorded.congestion.findings.map((finding) => ({ ...finding, verdict: "Not shown" as const }));
  expect(() => resultsPage({ ...recorded, congestion: { ...recorded.congestion, findings } })).toThrow(
    "beta 0.2 is slower",
  );
});
