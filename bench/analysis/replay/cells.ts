import type { Transport } from "../../../policy-api/core/sample.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { withCommonHandshake } from "../loads/common-handshake.ts";

/** What the sender counted of one load: what a client's next visit is decided on. */
export type Observation = ReturnType<typeof observation>[number];

/** First visits of three pages: of each load the times of its pages, milliseconds. */
export type Visits = NonNullable<ReturnType<typeof visitsOf>>;

/** A recorded cell: what would have happened, whatever is decided. */
export type RecordedCell = ReturnType<typeof recordedCells>[number];

/** Loads of each kind without which a half has no mean. */
const LOADS_MIN = 4;
const PAGES = 3;

/** Cells that have enough loads that count. */
export function recordedCells(rows: readonly LoadRow[]) {
  return [...Map.groupBy(rows.filter(counts), ({ cell }) => cell)].flatMap(([id, own]) => {
    const of = (arm: LoadRow["arm"], flow: LoadRow["flow"]): LoadRow[] =>
      own.filter((row) => row.arm === arm && row.flow === flow);
    const both = (flow: LoadRow["flow"]): [LoadRow[], LoadRow[]] => {
      const [stay, switched] = [of("fixed-h2", flow), of("always-offer", flow)];
      return [withCommonHandshake(stay, switched), withCommonHandshake(switched, stay)];
    };
    const [stay, switched] = both("trained");
    const [first] = stay;
    if (first === undefined || stay.length < LOADS_MIN || switched.length < LOADS_MIN) return [];
    const loads = (all: readonly LoadRow[]): number[][] =>
      all.flatMap(({ loadMs }) => (loadMs === null ? [] : [[loadMs]]));
    return [
      {
        id,
        network: id.slice(0, id.lastIndexOf("-")),
        congestion: first.congestion,
        contentBytes: first.imageBytes,
        /** Of each load the times of its pages, here one, milliseconds. */
        stay: loads(stay),
        switch: loads(switched),
        /** By the transport that measured. */
        observed: {
          tcp: stay.flatMap((row) => observation(row, "tcp")),
          quic: of("fixed-h3", "trained").flatMap((row) => observation(row, "quic")),
        },
        visits: visitsOf(...both("cold")),
      },
    ];
  });
}

function observation(row: LoadRow, transport: Transport) {
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

function visitsOf(onH2: readonly LoadRow[], switched: readonly LoadRow[]) {
  const pages = (rows: readonly LoadRow[]): number[][] =>
    rows.map(({ pagesMs }) => pagesMs.split(";").map(Number)).filter(({ length }) => length === PAGES);
  const handshakes = onH2.flatMap(({ handshakeMs }) => handshakeMs ?? []).toSorted((a, b) => a - b);
  const handshakeMs = handshakes[Math.floor(handshakes.length / 2)];
  const [stays, switches] = [pages(onH2), pages(switched)];
  if (handshakeMs === undefined || stays.length < LOADS_MIN || switches.length < LOADS_MIN) return undefined;
  return {
    stay: stays,
    switch: switches,
    /** Of TCP and TLS: what a page over a connection that exists does not pay. */
    handshakeMs,
    // The flow's images are of 1 MB at the most.
    contentBytes: Math.min(onH2[0]?.imageBytes ?? 1_000_000, 1_000_000),
  };
}
