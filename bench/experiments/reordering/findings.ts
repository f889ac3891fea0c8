import { beliefOf } from "../../../policy-api/core/belief.ts";
import { COMMON_MIX } from "../../../policy-api/core/levels.ts";
import type { Transport } from "../../../policy-api/core/sample.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Cell } from "../../model/cell.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/** A client of so many pages over each protocol. */
const PAGES = 5;
/** From here on a decision says that QUIC loses (policy-api/core/decide.ts). */
const QUIC_LOSES = 0.5;
/** The most that a path that drops nothing may seem to lose: what a belief takes for no loss is 0.02 %. */
const SEEMS_MAX = 0.0002;

export function reorderingSummary({ experiment, rows }: Pick<LoadsRecorded, "experiment" | "rows">) {
  return {
    places: experiment.cells.map((cell) => {
      const of = (transport: Transport): LoadRow[] =>
        rows.filter(
          (row) => row.cell === cell.id && row.arm === (transport === "tcp" ? "fixed-h2" : "fixed-h3") && counts(row),
        );
      const [tcp, quic] = [of("tcp"), of("quic")];
      const clients = Array.from({ length: Math.floor(Math.min(tcp.length, quic.length) / PAGES) }, (_, i) => {
        const pages = <T>(all: readonly T[]): T[] => all.slice(i * PAGES, (i + 1) * PAGES);
        return quicAlone(counted(pages(tcp), "tcp"), counted(pages(quic), "quic"));
      });
      return {
        ...placeOf(cell),
        loads: { tcp: tcp.length, quic: quic.length },
        lossRatio: { tcp: lossOf(counted(tcp, "tcp")), quic: lossOf(counted(quic, "quic")) },
        quicAlone: clients.length === 0 ? null : mean(clients),
        misjudged: clients.filter((probability) => probability > QUIC_LOSES).length,
        clients: clients.length,
      };
    }),
  };
}

type Place = ReturnType<typeof reorderingSummary>["places"][number];

function placeOf({ id, network: { delayMs, late }, congestion }: Cell) {
  return { id, rttMs: 2 * delayMs, lateShare: late?.share ?? 0, lateByMs: late?.byMs ?? 0, congestion };
}

function counted(rows: readonly LoadRow[], transport: Transport): { readonly sent: number; readonly lost: number } {
  const sum = (field: "PacketsSent" | "PacketsLost"): number =>
    rows.reduce((total, row) => total + (row[`${transport}${field}`] ?? 0), 0);
  return { sent: sum("PacketsSent"), lost: sum("PacketsLost") };
}

function lossOf({ sent, lost }: ReturnType<typeof counted>): number | null {
  return sent === 0 ? null : lost / sent;
}

/** What a client that counted so much makes of its path. */
function quicAlone(tcp: ReturnType<typeof counted>, quic: ReturnType<typeof counted>): number {
  const speed = { speeds: 0, logSpeed: 0 };
  const evidence = { tcp: { ...tcp, ...speed }, quic: { ...quic, ...speed }, mayOvershoot: false };
  return beliefOf(COMMON_MIX, { state: "known" }, evidence).quicAlone;
}

/** Whether a path that drops nothing seems to lose nothing, over both protocols; undefined where too little was measured. */
export function seemsClean({ lossRatio: { tcp, quic }, misjudged, clients }: Place): boolean | undefined {
  if (tcp === null || quic === null || clients === 0) return undefined;
  return misjudged === 0 && Math.max(tcp, quic) <= SEEMS_MAX;
}

export function reorderingReport({ places }: ReturnType<typeof reorderingSummary>): Report {
  const ratio = (value: number | null): string => (value === null ? "-" : `${(100 * value).toFixed(3)} %`);
  const table = tableOf(places, [
    ["RTT", ({ rttMs }) => `${rttMs} ms`],
    [
      "late packets",
      ({ lateShare, lateByMs }) => (lateShare === 0 ? "none" : `${100 * lateShare} % by ${lateByMs} ms`),
    ],
    ["TCP", ({ congestion }) => congestion],
    ["seems lost over HTTP/2", ({ lossRatio }) => ratio(lossRatio.tcp)],
    ["over HTTP/3", ({ lossRatio }) => ratio(lossRatio.quic)],
    ["QUIC alone loses", ({ quicAlone: probability }) => (probability === null ? "-" : probability.toFixed(3))],
    ["clients misjudged", ({ misjudged, clients }) => `${misjudged} of ${clients}`],
    ["", (place) => ({ true: "seems clean", false: "**seems lossy**", undefined: "-" })[`${seemsClean(place)}`]],
  ]);
  return { values: { table, pages: PAGES, seemsMax: 100 * SEEMS_MAX } };
}
