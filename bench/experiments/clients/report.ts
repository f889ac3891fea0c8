import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { CONGESTIONS } from "../../model/congestion.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { QUIC_ARMS, type Sender, senderOf } from "../../model/senders.ts";

const SENDERS: readonly Sender[] = [...CONGESTIONS, ...(Object.keys(QUIC_ARMS) as Sender[])];

export function clientsSummary({ rows, experiment }: LoadsRecorded) {
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

export function clientsReport({ clients }: ReturnType<typeof clientsSummary>): Report {
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
