import { readFileSync } from "node:fs";
import type { Client } from "../../analysis/population/draw.ts";
import { defineLoads } from "../../harness/loads/define.ts";
import { type Cell, QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { cellsBySender } from "../../model/senders.ts";
import { clientsReport, clientsSummary } from "./report.ts";

/** Drawn by `npm run bench -- draw-clients`. */
export const CLIENTS = JSON.parse(readFileSync(new URL("clients.json", import.meta.url), "utf8")) as readonly Client[];

/** Half of them tell what is best for a client, half what it takes. */
const ROUNDS = 8;

/** Pages of clients that no policy was made with: what `population` judges by. */
export function clients({ congestions, size }: LoadOptions): LoadExperiment {
  const drawn = size === "quick" ? CLIENTS.slice(0, 2) : CLIENTS;
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

function cellOf({ name, rttMs, lossRatio, rateMbps, bytes, files }: Client): Omit<Cell, "congestion"> {
  const network = { name, rateMbps, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
  return { id: name, network, imageBytes: Math.ceil(bytes / files), images: files };
}

export const experiment = defineLoads({ plan: clients, summarise: clientsSummary, report: clientsReport });
