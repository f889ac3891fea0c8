import type { Arm } from "../../model/arm.ts";
import type { Flow } from "../../model/flow.ts";
import type { Congestion } from "../../model/congestion.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { type Interval, meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, size, withInterval } from "../../analysis/tables/format.ts";
import { FEW } from "../../analysis/loads/groups.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";

/** How a client comes: for the first time, or again. */
const WAYS: readonly { readonly arm: Arm; readonly flow: Flow; readonly name: string }[] = [
  { arm: "fixed-h2", flow: "download", name: "h2, first visit" },
  { arm: "fixed-h2", flow: "resumed", name: "h2, resumed" },
  { arm: "fixed-h3", flow: "download", name: "h3, first visit" },
  { arm: "fixed-h3", flow: "resumed", name: "h3, resumed" },
  { arm: "early-h3", flow: "resumed", name: "h3, resumed, edge with 0-RTT" },
  { arm: "early-h3", flow: "early", name: "h3, 0-RTT" },
];

/** One way at one delay, beside one congestion control of the server's TCP; milliseconds. */
export interface ReturningWay {
  readonly congestion: Congestion;
  readonly delayMs: number;
  readonly way: string;
  readonly n: number;
  readonly bytes: number;
  readonly loadMs: Interval;
  readonly ttfbMs: Interval;
  /** How many round trips the mean load takes. */
  readonly roundTrips: number;
  /** By the server, a load: over TCP those with data, over QUIC all. */
  readonly packetsSent: number;
  /** HTTP/2's resumed mean load time over this one's; undefined for itself. */
  readonly ratio: Interval | undefined;
}

/** What a client gains that was here before: the cells that have loads of the flow `resumed`. */
export function returningWays({ experiment, rows, seed }: LoadsRecorded): ReturningWay[] {
  return experiment.cells.flatMap((cell) => {
    const own = WAYS.map((way) => ({
      ...way,
      rows: rows.filter((row) => row.cell === cell.id && row.arm === way.arm && row.flow === way.flow && counts(row)),
    }));
    const base = own.find(({ arm, flow }) => arm === "fixed-h2" && flow === "resumed")?.rows ?? [];
    if (own.some((way) => way.rows.length < FEW)) return [];
    return own.map(({ name, arm, flow, rows: of }) => {
      const random = seededRandom(seed, "returning", cell.id, arm, flow);
      const loadMs = meanInterval(timesIn(of, "loadMs"), { random });
      return {
        congestion: cell.congestion,
        delayMs: cell.network.delayMs,
        way: name,
        n: of.length,
        bytes: cell.imageBytes,
        loadMs,
        ttfbMs: meanInterval(timesIn(of, "ttfbMs"), { random }),
        packetsSent: mean(
          of.map((row) => (arm === "fixed-h2" ? row.tcpPacketsSent : row.quicPacketsSent) ?? Number.NaN),
        ),
        roundTrips: loadMs.estimate / (2 * cell.network.delayMs),
        ratio:
          of === base ? undefined : ratioOfMeansInterval(timesIn(base, "loadMs"), timesIn(of, "loadMs"), { random }),
      };
    });
  });
}

/** A load that timed out may have had no first byte. */
function timesIn(rows: readonly LoadRow[], field: "loadMs" | "ttfbMs"): number[] {
  return rows.flatMap((row) => row[field] ?? []);
}

/** Why HTTP/2 takes a round trip more with cubic, where it does. */
function windowText(ways: readonly ReturningWay[]): string {
  const tripsOf = (congestion: string): number[] =>
    ways
      .filter((one) => one.congestion === congestion && one.way === "h2, resumed")
      .map(({ roundTrips }) => roundTrips);
  const [cubic, bbr] = [tripsOf("cubic"), tripsOf("bbr")];
  return cubic.length === 0 || bbr.length === 0 || Math.min(...cubic) < Math.max(...bbr) + 0.5
    ? ""
    : `That HTTP/2 takes a round trip more with cubic than with bbr is likeliest TCP's first window, which counts packets: small ones (session
tickets, SETTINGS) are among those sent, and cubic's is still 10 where bbr's has grown to 12 (\`tcp-congestion\` traces both).`;
}

/** The values of the report's section; undefined where nothing of it was measured. */
export function returningValues(ways: readonly ReturningWay[]) {
  const [first] = ways;
  if (first === undefined) return undefined;
  const table = figuresTable(
    [
      "TCP, delay one way",
      "way",
      "n",
      "first byte, ms",
      "load, ms",
      "round trips",
      "packets sent",
      "resumed HTTP/2's time over this",
    ],
    ways.map(({ congestion, delayMs, way, n, ttfbMs, loadMs, roundTrips, packetsSent, ratio }) => [
      `${congestion}, ${delayMs} ms`,
      way,
      String(n),
      withInterval(ttfbMs),
      withInterval(loadMs),
      number(roundTrips),
      number(packetsSent),
      ratio === undefined ? "1" : withInterval(ratio),
    ]),
  );
  return { size: size(first.bytes), window: windowText(ways), table };
}
