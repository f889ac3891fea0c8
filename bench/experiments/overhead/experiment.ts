import type { Figure } from "../../analysis/statistics/bootstrap.ts";
import { number, size as sizeText } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import { defineLoopback } from "../../harness/loopback/define.ts";
import { CLIENTS } from "../../harness/loopback/plan.ts";
import { figureColumns, ratioColumns, resultsTable } from "../../harness/loopback/report.ts";
import { findResult, type LoopbackSummary } from "../../harness/loopback/summary.ts";
import { LOOPS, type Size, SIZES } from "../../model/request-plan.ts";

const LATENCY_AND_CPU = ["latencyMedianMs", "latencyP90Ms", "latencyP99Ms", "frontCpuUs", "workerdCpuUs"] as const;
const COLUMNS = { closed: ["requestsPerSecond", ...LATENCY_AND_CPU], open: LATENCY_AND_CPU } as const;

function overheadReport(summary: LoopbackSummary): Report {
  const { results, starts } = summary;
  const sizes = (Object.keys(SIZES) as Size[]).map((name) => ({
    size: sizeText(SIZES[name]),
    rate: findResult(summary, "open", `${name}/bare`).rate,
    clients: CLIENTS[name],
  }));
  const sections = LOOPS.flatMap((loop) =>
    sizes.map(({ size, rate }) => {
      const own = results.filter((result) => result.loop === loop && result.group === size);
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
  );
  const openRates = sizes.map(({ size, rate, clients }) => `${size}: ${rate}/s over ${clients} connections in turn`);
  return {
    values: {
      nginx: starts.at(-1)?.tools?.["nginx"] ?? "not to be had: its arm is left out",
      clients: CLIENTS,
      openRates: openRates.join("; "),
      steps: stepsTable(summary).trimEnd(),
      sections,
    },
  };
}

/** What each arm adds to the one that does the next less: ratios within a round, and the 95 % interval of their median. */
export function stepsTable(summary: LoopbackSummary): string {
  const steps = summary.results.filter(({ loop, added }) => loop === "closed" && added !== undefined);
  return markdownTable(
    ["", "beside", "requests/s, closed loop", "workerd's CPU, closed loop", "workerd's CPU, open loop"],
    steps.map(({ subject, title, group, added }) => [
      `${group}, ${title}`,
      findResult(summary, "closed", added?.to ?? subject).title,
      withInterval(added?.requestsPerSecond),
      withInterval(added?.workerdCpuUs),
      withInterval(findResult(summary, "open", subject).added?.workerdCpuUs),
    ]),
  );
}

/** Without an interval where there are too few rounds for one. */
function withInterval(ratio: Figure["ratio"] | undefined): string {
  if (ratio === undefined || !Number.isFinite(ratio.median)) return "-";
  const { median, interval } = ratio;
  return interval === null ? number(median) : `${number(median)} (${number(interval[0])} to ${number(interval[1])})`;
}

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; and through nginx.
 */
export const experiment = defineLoopback(overheadReport);
