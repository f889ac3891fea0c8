import { gainsTable } from "../../analysis/senders/gains-table.ts";
import { GAINS, type Place, placesOf, type Stack, stacksOf } from "../../analysis/senders/places.ts";
import { number, size as sizeText } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { CONGESTIONS } from "../../model/congestion.ts";
import { QUIC_ARMS, type QuicSender, type Sender } from "../../model/senders.ts";

const QUICS = Object.keys(QUIC_ARMS) as QuicSender[];
const SENDERS: readonly Sender[] = [...CONGESTIONS, ...QUICS];

export function sendersSummary({ rows }: LoadsRecorded) {
  return { places: placesOf(rows) };
}

const KINDS = [
  { about: "A return: the first page, with the connection's set-up", gain: GAINS.return },
  {
    about: "The page after the offer: HTTP/2's later page, HTTP/3's first one over a connection that is open already",
    gain: GAINS.opened,
  },
  { about: "The pages after that one: over connections that both carried a page before", gain: GAINS.later },
  { about: "A next page, whichever it is, as a visit has them", gain: GAINS.next },
];

export function sendersReport({ places }: ReturnType<typeof sendersSummary>): Report {
  const sizes = [...Map.groupBy(places, ({ contentBytes }) => contentBytes)];
  const tables = stacksOf(places, CONGESTIONS, QUICS).flatMap((stack) =>
    sizes.map(([contentBytes, own]) => ({
      ...stack,
      size: sizeText(contentBytes),
      kinds: KINDS.map(({ about, gain }) => ({ about, table: stackTable(own, stack, gain) })),
    })),
  );
  return { values: { tables, times: timesTable(places) } };
}

/** The places of one size, by one pair of senders. */
function stackTable(places: readonly Place[], { tcp, quic }: Stack, gain: (typeof KINDS)[number]["gain"]): string {
  const levels = (of: (place: Place) => number) => [...new Set(places.map(of))].sort((a, b) => a - b);
  return gainsTable(
    levels(({ lossRatio }) => lossRatio),
    levels(({ rttMs }) => rttMs),
    (loss, rtt) => {
      const { times = {} } = places.find(({ rttMs, lossRatio }) => rttMs === rtt && lossRatio === loss) ?? {};
      const [h2, h3] = [times[tcp], times[quic]];
      return h2 && h3 && gain(h2, h3);
    },
  );
}

function timesTable(places: readonly Place[]): string {
  return tableOf(places, [
    ["bytes", ({ contentBytes }) => sizeText(contentBytes)],
    ["RTT", ({ rttMs }) => `${rttMs} ms`],
    ["loss", ({ lossRatio }) => `${lossRatio * 100} %`],
    ...SENDERS.map((sender): [string, (place: Place) => string] => [
      sender,
      ({ times }) => {
        const own = times[sender];
        if (own === undefined) return "-";
        const [first, opened, later] = [own.first, own.opened, own.later].map(({ log }) => number(Math.exp(log)));
        return `${first}, ${opened}, ${later} (${own.n})`;
      },
    ]),
  ]);
}
