import type { PlannedLoad } from "../../model/cell.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import { number, withInterval } from "../../analysis/tables/format.ts";
import { FEW } from "../../analysis/loads/groups.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";

/** How a client comes: for the first time, or again. */
export const WAYS: readonly (PlannedLoad & { readonly name: string })[] = [
  { arm: "fixed-h2", flow: "download", name: "h2, first visit" },
  { arm: "fixed-h2", flow: "resumed", name: "h2, resumed" },
  { arm: "fixed-h3", flow: "download", name: "h3, first visit" },
  { arm: "fixed-h3", flow: "resumed", name: "h3, resumed" },
  { arm: "early-h3", flow: "resumed", name: "h3, resumed, edge with 0-RTT" },
  { arm: "early-h3", flow: "early", name: "h3, 0-RTT" },
];

/** One way at one delay, beside one congestion control of the server's TCP; milliseconds. */
export type ReturningWay = ReturnType<typeof returningWays>[number];

/** What a client gains that was here before: the cells that have loads of the flow `resumed`. */
export function returningWays({ experiment, rows, seed }: LoadsRecorded) {
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
        loadMs,
        ttfbMs: meanInterval(timesIn(of, "ttfbMs"), { random }),
        /** By the server, a load: over TCP those with data, over QUIC all. */
        packetsSent: mean(
          of.map((row) => (arm === "fixed-h2" ? row.tcpPacketsSent : row.quicPacketsSent) ?? Number.NaN),
        ),
        /** How many the mean load takes. */
        roundTrips: loadMs.estimate / (2 * cell.network.delayMs),
        /** HTTP/2's resumed mean load time over this one's; undefined for itself. */
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

/** A row for each way; undefined where nothing of it was measured. */
export function returningTable(ways: readonly ReturningWay[]): string | undefined {
  if (ways.length === 0) return undefined;
  return tableOf(ways, [
    ["TCP, delay one way", ({ congestion, delayMs }) => `${congestion}, ${delayMs} ms`],
    ["way", ({ way }) => way],
    ["n", ({ n }) => String(n)],
    ["first byte, ms", ({ ttfbMs }) => withInterval(ttfbMs)],
    ["load, ms", ({ loadMs }) => withInterval(loadMs)],
    ["round trips", ({ roundTrips }) => number(roundTrips)],
    ["packets sent", ({ packetsSent }) => number(packetsSent)],
    ["resumed HTTP/2's time over this", ({ ratio }) => (ratio === undefined ? "1" : withInterval(ratio))],
  ]);
}
