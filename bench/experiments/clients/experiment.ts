import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { cellOf, readClients } from "../../model/clients.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { cellsBySender, senderOf, SENDERS } from "../../model/senders.ts";

/** Half of them tell what is best for a client, half what it takes. */
const ROUNDS = 8;

/** Pages of clients that no policy was made with: what `population` judges by. */
function planClients({ congestions, size }: LoadOptions): LoadExperiment {
  const drawn = size === "quick" ? readClients().slice(0, 2) : readClients();
  const rounds = size === "quick" ? 2 : ROUNDS;
  return {
    switch: "wait",
    loads: [{ arm: "bare", flow: "visit" }],
    cells: drawn.flatMap((client) => cellsBySender(cellOf(client), congestions, "visit")),
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    timeoutMs: 240_000,
    notes: [
      "A load is a visit of two pages over one connection, five seconds apart. It begins on HTTP/2 or on HTTP/3 and stays there. No worker stands behind any of the servers. No figure of this run is used to make a policy.",
    ],
  };
}

function clientsSummary({ rows, experiment }: LoadsRecorded) {
  const own = Map.groupBy(rows.filter(counts), ({ cell }) => cell);
  const byClient = Map.groupBy(experiment.cells, ({ network }) => network.name);
  return {
    clients: [...byClient.values()].flatMap((cells) => {
      const [first] = cells;
      if (first === undefined) return [];
      const { network, imageBytes, images = 1 } = first;
      const loads = cells.flatMap(({ id }) => own.get(id) ?? []);
      const pages = SENDERS.map((sender) => ({
        sender,
        ...pagesOf(loads.filter(({ arm, congestion }) => senderOf(arm, congestion) === sender)),
      }));
      return [{ network, bytes: imageBytes * images, files: images, pages }];
    }),
  };
}

/** Mean times of the first and the later page, milliseconds. */
function pagesOf(rows: readonly LoadRow[]) {
  const pages = rows.map(({ pagesMs }) => pagesMs.split(";").map(Number));
  return {
    n: pages.length,
    firstMs: mean(pages.flatMap(([first]) => first ?? [])),
    laterMs: mean(pages.flatMap(([, later]) => later ?? [])),
  };
}

type Measured = ReturnType<typeof clientsSummary>["clients"][number];

function clientsReport({ clients }: ReturnType<typeof clientsSummary>): Report {
  const table = tableOf(clients, [
    ["client", ({ network }) => network.name],
    ["RTT ms", ({ network }) => number(2 * network.delayMs)],
    ["loss", ({ network }) => percent(network.lossRatio)],
    ["Mbit/s", ({ network }) => number(network.rateMbps)],
    ["kB", ({ bytes }) => number(bytes / 1_000)],
    ["files", ({ files }) => String(files)],
    ...SENDERS.map((sender): [string, (client: Measured) => string] => [
      sender,
      ({ pages }) => {
        const found = pages.find((one) => one.sender === sender);
        return found === undefined ? "-" : `${number(found.firstMs)}, ${number(found.laterMs)} (${found.n})`;
      },
    ]),
  ]);
  return { values: { table } };
}

export const experiment = defineLoads({ plan: planClients, summarise: clientsSummary, report: clientsReport });
