import { figureColumns, ratioColumns, resultsTable } from "../../harness/loopback/report.ts";
import { findResult, type LoopbackSummary } from "../../harness/loopback/summary.ts";
import { number, size as sizeText } from "../../analysis/tables/format.ts";
import { LOOPS, type Size, SIZES } from "../../model/request-plan.ts";
import { overheadReadmeTable } from "./readme-table.ts";
import { stepsTable } from "./steps-table.ts";
import { CLIENTS } from "./subjects.ts";

const LATENCY_AND_CPU = ["latencyMedianMs", "latencyP90Ms", "latencyP99Ms", "frontCpuUs", "workerdCpuUs"] as const;
const COLUMNS = { closed: ["requestsPerSecond", ...LATENCY_AND_CPU], open: LATENCY_AND_CPU } as const;

/** The values of report.md, beside the head's. */
export function overheadValues(summary: LoopbackSummary) {
  const sizes = (Object.keys(SIZES) as Size[]).map((name) => ({
    size: sizeText(SIZES[name]),
    rate: findResult(summary, "open", `${name}/bare`).rate,
    clients: CLIENTS[name],
  }));
  return {
    nginx: summary.starts.at(-1)?.tools?.["nginx"] ?? "not to be had: its arm is left out",
    clients: CLIENTS,
    openRates: sizes
      .map(({ size, rate, clients }) => `${size}: ${rate}/s over ${clients} connections in turn`)
      .join("; "),
    short: overheadReadmeTable(summary).trimEnd(),
    steps: stepsTable(summary).trimEnd(),
    sections: LOOPS.flatMap((loop) =>
      sizes.map(({ size, rate }) => {
        const own = summary.results.filter((result) => result.loop === loop && result.group === size);
        return {
          size,
          loop,
          rate: loop === "open" ? `, ${rate} requests/s` : "",
          figures: resultsTable(own, [
            ...figureColumns(COLUMNS[loop]),
            ["CPU of the origin, us", ({ originCpuUs }) => number(originCpuUs.median)],
            ["CPU of the client, us", ({ clientCpuUs }) => number(clientCpuUs.median)],
          ]),
          ratios: resultsTable(own, ratioColumns(COLUMNS[loop])),
        };
      }),
    ),
  };
}
