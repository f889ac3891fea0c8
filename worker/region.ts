import type { ConnectionFacts } from "./cf.ts";

/** Where an object is created: one of Cloudflare's location hints, or `local` if there is only one location. */
export type Region = DurableObjectLocationHint | "local";

/** All that regionOf returns. */
export const REGIONS = [
  "wnam",
  "enam",
  "sam",
  "weur",
  "eeur",
  "afr",
  "apac",
  "me",
  "oc",
  "local",
] as const satisfies readonly Region[];

/**
 * The region of a client, from `request.cf`. It is part of an object's name, so it must be stable: it depends on the
 * continent, and on the longitude only if the continent has two regions.
 */
export function regionOf({ continent, longitude }: Pick<ConnectionFacts, "continent" | "longitude">): Region {
  switch (continent) {
    case "NA":
      return longitude !== undefined && longitude < -100 ? "wnam" : "enam";
    case "SA":
      return "sam";
    case "EU":
      return longitude !== undefined && longitude > 15 ? "eeur" : "weur";
    case "AF":
      return "afr";
    case "AS":
      return longitude !== undefined && longitude < 60 ? "me" : "apac";
    case "OC":
    case "AN":
      return "oc";
    default:
      return "local";
  }
}
