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
      kinds: KINDS.map(({ about, gain }) => ({ about, table: gainsTable(own, stack, gain) })),
    })),
  );
  return { values: { tables, times: timesTable(places) } };
}

/** A line for each loss, a column for each RTT. */
function gainsTable(places: readonly Place[], { tcp, quic }: Stack, gain: (typeof KINDS)[number]["gain"]): string {
  const rtts = [...new Set(places.map(({ rttMs }) => rttMs))].sort((a, b) => a - b);
  const losses = [...new Set(places.map(({ lossRatio }) => lossRatio))].sort((a, b) => a - b);
  return tableOf(losses, [
    ["loss", (loss) => `${loss * 100} %`],
    ...rtts.map((rtt): [string, (loss: number) => string] => [
      `${rtt} ms`,
      (loss) => {
        const { times = {} } = places.find(({ rttMs, lossRatio }) => rttMs === rtt && lossRatio === loss) ?? {};
        const [h2, h3] = [times[tcp], times[quic]];
        if (h2 === undefined || h3 === undefined) return "-";
        const { log, se } = gain(h2, h3);
        return `${log.toFixed(3)} ± ${se.toFixed(3)}`;
      },
    ]),
  ]);
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
