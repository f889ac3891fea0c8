import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { readRecorded } from "./recorded.ts";
import { README, readmePage } from "./write-pages.ts";

const written = readFileSync(README, "utf8");

it("README.md says what was recorded: `npm run bench -- results` writes it", () => {
  expect(written).toBe(readmePage(readRecorded()));
});

it("says otherwise where another figure was recorded", () => {
  const recorded = readRecorded();
  const networks = recorded.visits.networks.map(({ found, ...what }) => ({
    ...what,
    found: found && { ...found, corrected: 0.5 },
  }));
  expect(readmePage({ ...recorded, visits: { ...recorded.visits, networks } })).toContain("50.0 %");
});

it("has at most 700 words, and points at files that are there", () => {
  expect(written.split(/\s+/).filter((word) => /[a-z\d]/i.test(word)).length).toBeLessThanOrEqual(700);
  const links = [...written.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link ?? "");
  expect(links.length).toBeGreaterThan(8);
  for (const link of links) expect(existsSync(join(dirname(README), link)), link).toBe(true);
  expect(written).not.toMatch(/NaN|undefined|Infinity/);
});
