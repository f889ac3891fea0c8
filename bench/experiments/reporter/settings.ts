import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import { float, optionalFloat, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";

export const PROTOCOLS = ["h2", "h3"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Of each protocol: pages without the reporter, and with it. */
export const ARMS = {
  h2: { plain: "fixed-h2", reporting: "reporting-h2" },
  h3: { plain: "fixed-h3", reporting: "reporting-h3" },
} as const satisfies Readonly<Record<Protocol, unknown>>;
export type Asked = keyof (typeof ARMS)[Protocol];

/** A network, and what is asked there. */
export interface Place {
  readonly network: Network;
  readonly visits: number;
  /** Of a visit. */
  readonly asked: readonly Asked[];
  /** Whether each page waits for its report. Else the next visit comes at once. */
  readonly waits: boolean;
}

/** Of a visit that waits: by the head of a page's last response its connection has only begun, and the next page tells of all of it. */
export const PAGES = 2;
/** Of a network and a protocol, with and without the reporter. */
const PAIRS = 120;

const network = (name: string, delayMs: number, lossRatio: number): Network => ({
  name,
  rateMbps: 50,
  delayMs,
  lossRatio,
  queueBytes: QUEUE_BYTES,
});

/** The questions of this experiment. */
export const QUESTIONS = ["truth", "price"] as const;
export interface Wanted {
  readonly quick: boolean;
  /** Both where it is left out. */
  readonly only: (typeof QUESTIONS)[number] | undefined;
}

/** What is reported, where packets are lost; and what reporting costs, where nothing else makes loads differ. */
export function placesOf({ quick, only }: Wanted): readonly Place[] {
  const losses = quick ? [0.02] : [0, 0.005, 0.02, 0.05];
  const truth = losses.map((loss): Place => ({
    network: network(`30 ms, ${100 * loss} % lost`, 15, loss),
    visits: quick ? 1 : 20,
    asked: ["reporting"],
    waits: true,
  }));
  const price = (quick ? [30] : [5, 30, 100]).map((rttMs): Place => ({
    network: network(`${rttMs} ms, price`, rttMs / 2, 0),
    visits: quick ? 1 : PAIRS,
    asked: ["plain", "reporting"],
    waits: false,
  }));
  return [...(only === "price" ? [] : truth), ...(only === "truth" ? [] : price)];
}

/** One page. Times in milliseconds. */
export const REPORTER_ROW = {
  /** Network, protocol, whether it was asked, visit and page. */
  id: string(),
  network: string(),
  protocol: string<Protocol>(),
  asked: string<Asked>(),
  /** From 0. */
  visit: float,
  /** From 1. */
  page: float,
  startedMs: float,
  outcome: string<"ok" | "failed" | "timeout">(),
  error: string(),
  /** What the page itself says: to the end of the load event. */
  loadMs: optionalFloat,
  /** The bench's own clock: from asking the browser for the page until it says that the page is loaded. */
  clockMs: optionalFloat,
  documentProtocol: string(),
  /** What all files have, the reporter too; without their headers. */
  resourceBytes: optionalFloat,
  /** Of the page's tasks over 50 ms; 0: none. */
  longestTaskMs: optionalFloat,
  /** What the report says. Nothing if there was none. */
  reportedLoadMs: optionalFloat,
  /** Of all connections since they began. */
  reportedSent: optionalFloat,
  reportedLost: optionalFloat,
  reportBytes: optionalFloat,
  /** What the path passed on towards the client, and dropped, since the visit began, packets. */
  pathDown: optionalFloat,
  pathDropped: optionalFloat,
  busyRatio: optionalFloat,
  lateRatio: optionalFloat,
} as const satisfies RowSchema;

export type ReporterRow = RowOf<typeof REPORTER_ROW>;

export interface Visit {
  readonly id: string;
  readonly place: Place;
  readonly protocol: Protocol;
  readonly asked: Asked;
  readonly visit: number;
}

/**
 * Visits whose last page has no row yet: place by place, in rounds of one of each kind. In every other round pages with the reporter
 * come first. A run goes on where another stopped.
 */
export function missingVisits(places: readonly Place[], rows: readonly Pick<ReporterRow, "id">[]): Visit[] {
  const made = new Set(rows.map(({ id }) => id));
  return places.flatMap((place) =>
    Array.from({ length: place.visits }, (_, visit) =>
      PROTOCOLS.flatMap((protocol) =>
        (visit % 2 === 0 ? place.asked : place.asked.toReversed()).map((asked) => ({
          id: `${place.network.name}/${protocol}/${asked}/${visit}`,
          place,
          protocol,
          asked,
          visit,
        })),
      ),
    )
      .flat()
      .filter(({ id }) => !made.has(`${id}/${pagesOf(place)}`)),
  );
}

export function pagesOf({ waits }: Place): number {
  return waits ? PAGES : 1;
}
