import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { decidesValues, PAGE, pageOf, shownPolicy } from "./how-it-decides.ts";

const written = readFileSync(PAGE, "utf8");

it("docs/how-it-decides.md shows the shipped policy: `npm run bench -- how-it-decides` writes it", () => {
  expect(written).toBe(pageOf(shownPolicy()));
});

it("has at most 1,200 words, and points at files that are there", () => {
  expect(written.split(/\s+/).filter((word) => /[a-z\d]/i.test(word)).length).toBeLessThanOrEqual(1_200);
  const links = [...written.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link ?? "");
  expect(links.length).toBeGreaterThan(4);
  for (const link of links) expect(existsSync(join(dirname(PAGE), link)), link).toBe(true);
  expect(written).not.toMatch(/NaN|undefined|Infinity/);
});

it("the example can be followed by hand: its columns lead to its sentence", () => {
  const { example } = decidesValues(shownPolicy());
  const rows = example.table
    .split("\n")
    .slice(2)
    .map((line) => line.split("|").slice(2, -1).map(Number));
  const products = rows.map(([prior = 0, likelihood = 0]) => prior * likelihood);
  const total = products.reduce((a, b) => a + b, 0);
  const expected = (column: number) =>
    rows.reduce((sum, row, i) => sum + ((products[i] ?? 0) / total) * (row[column] ?? 0), 0);
  for (const [i, row] of rows.entries()) expect(row[2]).toBeCloseTo((products[i] ?? 0) / total, 2);
  expect(expected(3)).toBeCloseTo(Number(example.nextGain), 2);
  expect(expected(4)).toBeCloseTo(Number(example.returnGain), 2);
  const value =
    Number(example.pages) * Number(example.nextGain) +
    Number(example.returns) * Number(example.returnGain) -
    Number(example.price);
  expect(value / Number(example.changed)).toBeCloseTo(Number(example.saving), 2);
});
