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

it("the examples can be followed by hand", () => {
  const { far, fast } = decidesValues(shownPolicy());
  for (const one of [far, fast]) {
    const price = Number(one.price.replaceAll(/[()]/g, ""));
    const value = Number(one.pages) * Number(one.next) + Number(one.returns) * Number(one.return) - price;
    expect(value / Number(one.changed)).toBeCloseTo(Number(one.saving), 2);
  }
  expect([far.answer, fast.answer]).toEqual(["offered, for 86400 s", "not offered"]);
  // 10 MB over 500 Mbit/s and four times 10 ms, and over 200 Mbit/s.
  expect(Number(fast.ceiling)).toBeCloseTo(Math.log(0.2 / 0.44), 2);
});
