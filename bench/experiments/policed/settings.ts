import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import { CONGESTIONS, type Congestion } from "../../model/congestion.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

export const ARMS = ["fixed-h2", "adaptive"] as const;
export type PolicedArm = (typeof ARMS)[number];

/** A network, and whether what QUIC loses there is UDP's alone. */
export interface Place {
  readonly network: Network;
  readonly isPoliced: boolean;
  readonly congestion: Congestion;
}

/** Pages of a visit, a little apart: the edge's sample of a page is with the worker before the next one. */
export const PAGES = 6;
export const PAUSE_MS = 7_000;
const RATE_MBPS = 50;

/** Clean paths on which UDP alone loses packets, and the same paths where both lose as many. */
export function placesOf(quick: boolean): readonly Place[] {
  const losses = quick ? [0.08] : [0.02, 0.08, 0.2];
  const rtts = quick ? [60] : [10, 60];
  return rtts.flatMap((rttMs) =>
    [true, false].flatMap((isPoliced) =>
      losses
        .filter((loss) => isPoliced || loss < 0.1)
        .flatMap((loss) =>
          CONGESTIONS.filter((congestion) => congestion !== "reno" && (!quick || congestion === "cubic")).map(
            (congestion) => {
              const name = `${rttMs} ms, ${100 * loss} % of ${isPoliced ? "UDP" : "all"}`;
              const plain = { name, rateMbps: RATE_MBPS, delayMs: rttMs / 2, queueBytes: QUEUE_BYTES };
              const network = isPoliced
                ? { ...plain, lossRatio: 0, udpLossRatio: loss }
                : { ...plain, lossRatio: loss };
              return { network, isPoliced, congestion };
            },
          ),
        ),
    ),
  );
}

/** One page of a visit. */
export const POLICED_ROW = {
  /** Network, congestion control, arm, visit and page. */
  id: string(),
  network: string(),
  congestion: string<Congestion>(),
  arm: string<PolicedArm>(),
  /** From 0. */
  visit: float,
  /** From 1. */
  page: float,
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  loadMs: optionalFloat,
  /** Of its files, the share over HTTP/3. */
  filesH3: optionalFloat,
  busyRatio: optionalFloat,
  lateRatio: optionalFloat,
} as const satisfies RowSchema;

export type PolicedRow = RowOf<typeof POLICED_ROW>;

/** A visit whose last page has no row yet. */
export interface Visit {
  readonly id: string;
  readonly place: Place;
  readonly arm: PolicedArm;
  readonly visit: number;
}

/** In rounds of one of each place and arm. A run goes on where another stopped. */
export function missingVisits(places: readonly Place[], visits: number, rows: readonly PolicedRow[]): Visit[] {
  const made = new Set(rows.map(({ id }) => id));
  return Array.from({ length: visits }, (_, visit) =>
    places.flatMap((place) =>
      ARMS.map((arm) => ({ id: `${place.network.name}/${place.congestion}/${arm}/${visit}`, place, arm, visit })),
    ),
  )
    .flat()
    .filter(({ id }) => !made.has(`${id}/${PAGES}`));
}
