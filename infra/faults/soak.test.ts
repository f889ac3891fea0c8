import { expect, it } from "vitest";
import { growth, type Reading } from "./soak.ts";

const at = (minute: number, over: Partial<Reading> = {}): Reading => ({
  minute,
  workerdMB: 200,
  edgeMB: 60,
  workerdDescriptors: 90,
  edgeDescriptors: 80,
  rows: 5_000,
  ...over,
});

it("names what grew between a sixth of the run and its end, and nothing that had grown before", () => {
  const steady = Array.from({ length: 30 }, (_, i) => at(i + 1, i < 4 ? { workerdMB: 60 } : {}));
  const ending = (over: Partial<Reading>): Reading[] => [...steady.slice(0, 29), at(30, over)];
  expect(growth(steady)).toEqual([]);
  expect(growth(ending({ workerdMB: 266, edgeDescriptors: 132 }))).toEqual([]);
  expect(growth(ending({ workerdMB: 267, edgeDescriptors: 133 }))).toEqual([
    "workerdMB grew from 200 in minute 5 to 267 in minute 30",
    "edgeDescriptors grew from 80 in minute 5 to 133 in minute 30",
  ]);
  expect(growth(ending({ workerdMB: 267 }).slice(1))).toEqual([]);
  expect(growth([])).toEqual([]);
});
