import { expect, it } from "vitest";
import { growth, type Holdings } from "./growth.ts";

const held = (MB: number, descriptors: number): Holdings => ({
  workerd: { MB, descriptors: 90 },
  edge: { MB: 60, descriptors },
});

it("names what grew between a sixth of the run and its end, and nothing that had grown before", () => {
  const steady = Array.from({ length: 30 }, (_, i) => held(i < 4 ? 60 : 200, 80));
  expect(growth(steady)).toEqual([]);
  expect(growth([...steady.slice(1), held(266, 132)])).toEqual([]);
  const grown = [...steady.slice(0, 29), held(267, 133)];
  expect(growth(grown)).toEqual([
    "workerd held 200 MB after a sixth of the run, and 267 at its end",
    "edge held 80 descriptors after a sixth of the run, and 133 at its end",
  ]);
  expect(growth(grown.slice(1))).toEqual([]);
  expect(growth([])).toEqual([]);
});
