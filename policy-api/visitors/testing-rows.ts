// Rows of a store, made of drawn clients, that tests of several rooms share. Nothing that is deployed imports it.
import type { DrawnArm } from "../decision/assignment.ts";
import { nearestPlace } from "../decision/gain-table.ts";
import { type ClientDay, fixed, SCALE } from "./client-day.ts";
import { EMPTY_GAINS } from "./empty-table.ts";
import type { OutcomeRow } from "./gathered.ts";
import { addTime, EMPTY_SKETCH, type Sketch } from "./quantiles.ts";
import { cellKey, EVERYWHERE, periodKey, rttClassOf, rttKey } from "./row-keys.ts";
import type { Outcome } from "./sums.ts";
import { drawnDays, sumOf } from "./testing.ts";

/** Clients at one RTT and in one autonomous system. */
export interface DrawnPlace {
  readonly rttMs: number;
  /** In each arm. */
  readonly clients: number;
  /** In the withheld arm, if these are not as many. */
  readonly withheld?: number;
  /** ln of what HTTP/3 saves. */
  readonly saves: number;
  /** The share of clients that use HTTP/3 if they are offered it. */
  readonly overH3: number;
  /** And if not. */
  readonly withheldOverH3?: number;
  readonly asn: number;
  readonly country?: string;
  /** The period of assignment in which they came. */
  readonly period?: number;
  /** Whether browsers tell the LCP: it then comes after four fifths of the load time. */
  readonly tellLcp?: boolean;
}

/** What a store has of them: pages of 1 MB, over HTTP/3 only after the first page of a client that nobody knew. */
export function drawnRows(version: number, places: readonly DrawnPlace[]): readonly OutcomeRow[] {
  return places.flatMap((place, index) => {
    const {
      rttMs,
      clients,
      withheld = clients,
      saves,
      overH3,
      withheldOverH3 = 0,
      asn,
      country,
      period = 10_345,
      tellLcp = false,
    } = place;
    const at = nearestPlace(EMPTY_GAINS.table, { rttMs, contentBytes: 1_000_000 });
    const rowsOf = (arm: DrawnArm, count: number, share: number): OutcomeRow[] => {
      const seed = 4 * index + (arm === "offer" ? 1 : 2);
      const drawn = (shareNow: number, its: number): ClientDay[] => {
        const days = drawnDays({ clients: count, seed: its, saves, overH3: shareNow });
        return tellLcp ? days.map(withLcp) : days;
      };
      const row = (key: string, days: readonly ClientDay[]): OutcomeRow => {
        const [load, lcp] = [sketchOf(days, "load"), sketchOf(days, "lcp")];
        return { version, arm, key, sums: sumOf(days), load, lcp };
      };
      const days = drawn(share, seed);
      return [
        ...[EVERYWHERE, rttKey(rttClassOf(rttMs)), `asn/${asn}`, cellKey({ position: "next", ...at })]
          .concat(country === undefined ? [] : `country/${country}`)
          .map((key) => row(key, days)),
        { ...row(periodKey(period, rttClassOf(rttMs)), days), load: EMPTY_SKETCH, lcp: EMPTY_SKETCH },
        row(cellKey({ position: "new", ...at }), drawn(withheldOverH3, seed + 2)),
      ];
    };
    return [...rowsOf("offer", clients, overH3), ...rowsOf("withhold", withheld, withheldOverH3)];
  });
}

function withLcp(day: ClientDay): ClientDay {
  const { pages, logs, predicted } = day.load;
  const sooner = pages * fixed(Math.log(0.8));
  return { ...day, lcp: { ...day.load, logs: logs + sooner, predicted: predicted + sooner } };
}

/** Each client's mean page in the place of its first ones. */
function sketchOf(days: readonly ClientDay[], outcome: Outcome): Sketch {
  return days.reduce<Sketch>((sketch, day) => {
    const { pages, logs } = day[outcome];
    return pages === 0 ? sketch : addTime(sketch, 1000 * Math.exp(logs / pages / SCALE));
  }, EMPTY_SKETCH);
}
