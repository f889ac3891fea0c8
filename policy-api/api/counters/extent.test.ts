import { expect, it } from "vitest";
import { extentOf } from "./extent.ts";

const NO_EXTENT = { rows: 0, oldestAtMs: undefined, bytes: 0 };

it("adds up what objects keep, and says what is oldest of all", () => {
  expect(extentOf([])).toEqual(NO_EXTENT);
  expect(extentOf([{ rows: 3, oldestAtMs: 9, bytes: 100 }, NO_EXTENT, { rows: 1, oldestAtMs: 4, bytes: 50 }])).toEqual({
    rows: 4,
    oldestAtMs: 4,
    bytes: 150,
  });
});
