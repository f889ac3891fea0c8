import type { Transport } from "../../../policy-api/core/sample.ts";
import type { Congestion } from "../../model/congestion.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { withCommonHandshake } from "../loads/common-handshake.ts";

/** What the sender counted of one load: what a client's next visit is decided on. */
export interface Observation {
  readonly minRttMs: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly bytesSent: number;
  readonly deliveryRateBps: number | undefined;
}

/** Recorded first visits of three pages: the time of each page, milliseconds. */
export interface Visits {
  readonly onH2: readonly (readonly number[])[];
  readonly switched: readonly (readonly number[])[];
  /** Of TCP and TLS: what a page over a connection that exists does not pay. */
  readonly handshakeMs: number;
  readonly contentBytes: number;
}

/** A recorded cell: what would have happened, whatever is decided. */
export interface RecordedCell {
  readonly id: string;
  readonly network: string;
  readonly congestion: Congestion;
  readonly contentBytes: number;
  readonly stayMs: readonly number[];
  readonly switchMs: readonly number[];
  /** By the transport that measured. */
  readonly observed: Readonly<Record<Transport, readonly Observation[]>>;
  readonly visits: Visits | undefined;
}

/** Loads of each kind without which a half has no mean. */
const LOADS_MIN = 4;
const PAGES = 3;

/** Cells that have enough loads that count. */
export function recordedCells(rows: readonly LoadRow[]): RecordedCell[] {
  return [...Map.groupBy(rows, ({ cell }) => cell)].flatMap(([id, all]) => {
    const own = all.filter(counts);
    const first = own[0];
    const of = (arm: LoadRow["arm"], flow: LoadRow["flow"]): LoadRow[] =>
      own.filter((row) => row.arm === arm && row.flow === flow);
    const stay = withCommonHandshake(of("fixed-h2", "trained"), of("always-offer", "trained"));
    const switched = withCommonHandshake(of("always-offer", "trained"), of("fixed-h2", "trained"));
    if (first === undefined || stay.length < LOADS_MIN || switched.length < LOADS_MIN) return [];
    return [
      {
        id,
        network: id.slice(0, id.lastIndexOf("-")),
        congestion: first.congestion,
        contentBytes: stay[0]?.imageBytes ?? first.imageBytes,
        stayMs: stay.flatMap(({ loadMs }) => loadMs ?? []),
        switchMs: switched.flatMap(({ loadMs }) => loadMs ?? []),
        observed: {
          tcp: stay.flatMap((row) => observation(row, "tcp")),
          quic: of("fixed-h3", "trained").flatMap((row) => observation(row, "quic")),
        },
        visits: visitsOf(
          withCommonHandshake(of("fixed-h2", "cold"), of("always-offer", "cold")),
          withCommonHandshake(of("always-offer", "cold"), of("fixed-h2", "cold")),
        ),
      },
    ];
  });
}

function observation(row: LoadRow, transport: Transport): Observation[] {
  const minRttMs = row[`${transport}MinRttMs`];
  const packetsSent = row[`${transport}PacketsSent`];
  if (minRttMs === null || packetsSent === null || packetsSent === 0) return [];
  return [
    {
      minRttMs,
      packetsSent,
      packetsLost: row[`${transport}PacketsLost`] ?? 0,
      bytesSent: row.bytes,
      deliveryRateBps: row[`${transport}DeliveryRateBps`] ?? undefined,
    },
  ];
}

function visitsOf(onH2: readonly LoadRow[], switched: readonly LoadRow[]): Visits | undefined {
  const pages = (rows: readonly LoadRow[]): number[][] =>
    rows.map(({ pagesMs }) => pagesMs.split(";").map(Number)).filter(({ length }) => length === PAGES);
  const handshakes = onH2.flatMap(({ handshakeMs }) => handshakeMs ?? []).toSorted((a, b) => a - b);
  const handshakeMs = handshakes[Math.floor(handshakes.length / 2)];
  const [stays, switches] = [pages(onH2), pages(switched)];
  if (handshakeMs === undefined || stays.length < LOADS_MIN || switches.length < LOADS_MIN) return undefined;
  return {
    onH2: stays,
    switched: switches,
    handshakeMs,
    // The flow's images are of 1 MB at the most.
    contentBytes: Math.min(onH2[0]?.imageBytes ?? 1_000_000, 1_000_000),
  };
}
