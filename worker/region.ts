import type { ConnectionFacts } from "./cf.ts";
import type { Settings } from "./settings.ts";

/** Where an object is created: one of Cloudflare's location hints, or `local` if there is only one location. */
export type Region = DurableObjectLocationHint | "local";

/** All that regionOf returns. */
export const REGIONS = ["wnam", "enam", "sam", "weur", "eeur", "afr", "apac", "me", "oc", "local"] as const;

/** By continent. A longitude that is not known is NaN. */
const OF_CONTINENT: ReadonlyMap<string | undefined, (longitude: number) => Region> = new Map<
  string,
  (longitude: number) => Region
>([
  ["NA", (longitude) => (longitude < -100 ? "wnam" : "enam")],
  ["SA", () => "sam"],
  ["EU", (longitude) => (longitude > 15 ? "eeur" : "weur")],
  ["AF", () => "afr"],
  ["AS", (longitude) => (longitude < 60 ? "me" : "apac")],
  ["OC", () => "oc"],
  ["AN", () => "oc"],
]);

/**
 * The region of a client, from `request.cf`. It is part of an object's name, so it must be stable: it depends on the
 * continent, and on the longitude only if the continent has two regions.
 */
export function regionOf({ continent, longitude }: Pick<ConnectionFacts, "continent" | "longitude">): Region {
  return OF_CONTINENT.get(continent)?.(longitude ?? Number.NaN) ?? "local";
}

/** Where a deployment may have objects. */
export function regionsOf({ edge }: Pick<Settings, "edge">): readonly [Region, ...Region[]] {
  return edge === "cloudflare" ? REGIONS : ["local"];
}
