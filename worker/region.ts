import type { ConnectionFacts } from "./cf.ts";

/** Where an object is made: Cloudflare's location hints, and `local` where there is only one place. */
export type Region = DurableObjectLocationHint | "local";

/** All that regionOf can say. */
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
 * The region of a client, from `request.cf`. It is part of an object's name, so it must not flicker: it goes by
 * continent, and by longitude only where a continent has two places.
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
