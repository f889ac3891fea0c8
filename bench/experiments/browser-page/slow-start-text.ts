import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, size } from "../../analysis/tables/format.ts";
import { median } from "../../analysis/statistics/summary.ts";
import type { RecordedConnections } from "./record-connections.ts";
import { EARLY_BYTES, isEarly, type SlowStart } from "./slow-start.ts";

export function slowStartText({ place, slowStarts }: RecordedConnections): string {
  const medianOf = (connections: readonly SlowStart[], of: (one: SlowStart) => number | null): string =>
    number(median(connections.flatMap((one) => of(one) ?? [])));
  const table = figuresTable(
    [
      "browsers at a time",
      "connections",
      `slow start ended below ${size(EARLY_BYTES)}`,
      "RTT above the smallest then, ms",
      "their transfer, ms",
      "the others' transfer, ms",
      "packets lost, of all",
    ],
    slowStarts.map(({ browsers, connections }) => {
      const early = connections.filter(isEarly);
      return [
        String(browsers),
        String(connections.length),
        String(early.length),
        medianOf(early, ({ rttAboveMs }) => rttAboveMs),
        medianOf(early, ({ transferMs }) => transferMs),
        medianOf(
          connections.filter((one) => !isEarly(one)),
          ({ transferMs }) => transferMs,
        ),
        String(connections.reduce((sum, { packetsLost }) => sum + packetsLost, 0)),
      ];
    }),
  );
  return `Some connections over HTTP/3 are slow for as long as they live ("over twice it" above). What may make them so was looked for apart from
the run: the server's qlog of connections on \`${place}\`, each of which loads the page once, tells how slow start ended (medians). Each
browser is on a path of its own, and all share the machine's cores with the server, as in the run; there two of the three are on
lossy paths, which keep them less busy.

${table}

quic-go ends slow start, besides at a loss, where of the first eight RTT samples of a round trip even the smallest is above the
connection's smallest by over an eighth of it, or by 16 ms if that is less (hybrid slow start, \`internal/congestion/hybrid_slow_start.go\`):
a queue has begun to grow. But where a core is long in coming, the samples are as late: QUIC's packets and acknowledgements wait for
the programs at both ends, TCP's are the kernels'. From there on the window grows by about a packet a round trip. RFC 9406 has a way
back into slow start after such a false end; quic-go has none, nor a setting for it.`;
}
