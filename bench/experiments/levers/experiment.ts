import type { Kind, MeasuredPlace } from "../../analysis/levers/gains.ts";
import { leversPicture, leversSummary, leversValues } from "../../analysis/levers/report.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import type { Cell } from "../../model/cell.ts";
import { cellOf, type Client, readClients } from "../../model/clients.ts";
import { BASE, type Lever, LEVERS } from "../../model/levers.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";

/** Halves of them pick what is best for a client, and judge it. */
const ROUNDS = 4;
const FLOWS = ["three-pages", "return"] as const;

/** The clients of `population`, by every lever of the server. */
export function planLevers({ size }: LoadOptions): LoadExperiment {
  const isQuick = size === "quick";
  const clients = isQuick ? readClients().slice(0, 2) : readClients();
  const rounds = isQuick ? 2 : ROUNDS;
  return {
    switch: "wait",
    loads: FLOWS.map((flow) => ({ arm: "bare", flow })),
    cells: clients.flatMap((client) => cellsOf(client)),
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    timeoutMs: 240_000,
    notes: [
      "A visit is three pages over one connection, five seconds apart. A return is one page by a client that kept TLS tickets and QUIC's address token. No worker stands behind any of the servers.",
      "The kernel's bbr is BBRv1. A setting of TCP is that of the server's network namespace: a route's initcwnd, and tcp_slow_start_after_idle.",
      "A load counts although others go on in other lanes: it rests for most of its time, and a busy core is seen.",
    ],
  };
}

/** A cell for each setting of the server's TCP; QUIC's loads are made in the first one. */
function cellsOf(client: Client): Cell[] {
  const tcp = LEVERS.filter(({ arm }) => arm === "bare");
  return tcp.map(({ id, congestion, tcp: settings }, i) => ({
    ...cellOf(client),
    id: `${client.name}-${id}`,
    congestion,
    tcp: settings,
    isAlone: false,
    loads: (i === 0 ? LEVERS.filter(({ arm }) => arm !== "bare").map(({ arm }) => arm) : [])
      .concat("bare")
      .flatMap((arm) => FLOWS.map((flow) => ({ arm, flow }))),
  }));
}

/** What each client measured by each lever. */
function placesOf({ rows, experiment }: Pick<LoadsRecorded, "rows" | "experiment">): MeasuredPlace[] {
  const own = Map.groupBy(rows.filter(counts), ({ cell, arm }) => `${cell} ${arm}`);
  const clients = new Set(experiment.cells.map(({ network }) => network.name));
  return readClients()
    .filter(({ name }) => clients.has(name))
    .map((client) => ({
      ...client,
      pages: Object.fromEntries(LEVERS.map((lever) => [lever.id, pagesOf(own.get(groupOf(client, lever)) ?? [])])),
    }));
}

function groupOf(client: Client, { id, arm }: Lever): string {
  return `${client.name}-${arm === "bare" ? id : BASE} ${arm}`;
}

function pagesOf(rows: readonly LoadRow[]): Readonly<Record<Kind, readonly (readonly number[])[]>> {
  const times = (flow: (typeof FLOWS)[number]): number[][] =>
    rows
      .filter((row) => row.flow === flow)
      .toSorted((a, b) => a.round - b.round)
      .map(({ pagesMs }) => pagesMs.split(";").map(Number));
  const visits = times("three-pages");
  return {
    first: visits.map((pages) => pages.slice(0, 1)),
    later: visits.map((pages) => pages.slice(1)),
    return: times("return"),
  };
}

const ABOUT = "Clients of a plausible population; k6, visits of three pages five seconds apart, and a return.";

export const experiment = defineLoads({
  plan: planLevers,
  summarise: (recorded) => leversSummary(placesOf(recorded), LEVERS, recorded.seed),
  report: (summary) => ({
    values: leversValues(summary),
    pictures: [{ file: "levers.svg", spec: leversPicture(summary, ABOUT) }],
  }),
});
