import { expect, it } from "vitest";
import { REGIONS, regionOf } from "./region.ts";

it.each([
  [{ continent: "NA", longitude: -122 }, "wnam"],
  [{ continent: "NA", longitude: -74 }, "enam"],
  [{ continent: "NA" }, "enam"],
  [{ continent: "SA" }, "sam"],
  [{ continent: "EU", longitude: 2 }, "weur"],
  [{ continent: "EU", longitude: 21 }, "eeur"],
  [{ continent: "AS", longitude: 139 }, "apac"],
  [{ continent: "AS", longitude: 55 }, "me"],
  [{ continent: "AF" }, "afr"],
  [{ continent: "OC" }, "oc"],
  [{ continent: "T1" }, "local"],
  [{}, "local"],
])("%j", (facts, region) => {
  expect(regionOf(facts)).toBe(region);
});

it("all that it can say is listed, once: whoever looks for a client asks in each", () => {
  const continents = ["NA", "SA", "EU", "AF", "AS", "OC", "AN", "T1", undefined];
  const said = continents.flatMap((continent) =>
    [-122, 0, 21, 55, 139, undefined].map((longitude) => regionOf({ continent, longitude })),
  );
  expect([...new Set(said)].toSorted()).toEqual(REGIONS.toSorted());
});
