import type { TopLevelSpec } from "vega-lite";
import { FAINT, LINE_STYLES } from "../../analysis/charts/theme.ts";
import type { Figure } from "../../analysis/statistics/bootstrap.ts";
import { number, size as sizeText, withQuartiles } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import { CLIENTS } from "../../harness/loopback/plan.ts";
import { figureColumns, ratioColumns, resultsTable } from "../../harness/loopback/report.ts";
import { type FigureName, findResult, type LoopbackSummary } from "../../harness/loopback/summary.ts";
import { type Loop, LOOPS, type Size, SIZES } from "../../model/request-plan.ts";

const LATENCY_AND_CPU = ["latencyMedianMs", "latencyP90Ms", "latencyP99Ms", "frontCpuUs", "workerdCpuUs"] as const;
const COLUMNS = { closed: ["requestsPerSecond", ...LATENCY_AND_CPU], open: LATENCY_AND_CPU } as const;

export function overheadReport(summary: LoopbackSummary): Report {
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
      short: overheadReadmeTable(summary).trimEnd(),
      steps: stepsTable(summary).trimEnd(),
      sections,
    },
    pictures: [{ file: "overhead.svg", spec: overheadPicture(summary) }],
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
export function withInterval(ratio: Figure["ratio"] | undefined): string {
  if (ratio === undefined || !Number.isFinite(ratio.median)) return "-";
  const { median, interval } = ratio;
  return interval === null ? number(median) : `${number(median)} (${number(interval[0])} to ${number(interval[1])})`;
}

const README_COLUMNS: readonly { title: string; loop: Loop; figure: FigureName; unit: string; reference: string }[] = [
  { title: "requests/s", loop: "closed", figure: "requestsPerSecond", unit: "/s", reference: "small/bare" },
  { title: "latency, median", loop: "open", figure: "latencyMedianMs", unit: "ms", reference: "small/bare" },
  { title: "latency, p99", loop: "open", figure: "latencyP99Ms", unit: "ms", reference: "small/bare" },
  { title: "workerd's CPU", loop: "open", figure: "workerdCpuUs", unit: "us", reference: "small/pass-through" },
];

/**
 * The table of README's "What it costs", of small responses: the references in figures, all others beside them. Requests
 * per second are the closed loop's; latency and CPU time the open loop's, where every arm has the same to do.
 */
export function overheadReadmeTable(summary: LoopbackSummary): string {
  const arms = summary.results.filter(({ loop, group }) => loop === "open" && group === sizeText(SIZES.small));
  return markdownTable(
    [`${sizeText(SIZES.small)} through`, ...README_COLUMNS.map(({ title }) => title)],
    arms.map(({ subject, title }) => [
      title,
      ...README_COLUMNS.map(({ loop, figure, unit, reference }) => {
        const found = findResult(summary, loop, subject).figures[figure];
        if (found === undefined) return "";
        return subject === reference ? `${number(found.median)} ${unit}` : withQuartiles(found.ratio);
      }),
    ]),
  );
}

const PANELS: readonly { figure: FigureName; loop: Loop; title: string; reference: string }[] = [
  { figure: "requestsPerSecond", loop: "closed", title: "requests/s, closed loop", reference: "bare" },
  { figure: "latencyMedianMs", loop: "open", title: "median latency, open loop", reference: "bare" },
  { figure: "latencyP99Ms", loop: "open", title: "p99 latency, open loop", reference: "bare" },
  { figure: "frontCpuUs", loop: "open", title: "CPU of the edge, open loop", reference: "bare" },
  { figure: "workerdCpuUs", loop: "open", title: "CPU of workerd, open loop", reference: "pass-through" },
];

const IN_A_ROW = 3;

/**
 * Ratios of every arm, a panel for each figure; the line at 1 is the reference. Not spreadDots: its lines are networks
 * and its colours the arms of the experiments on loads, here lines are arms and colours sizes.
 */
export function overheadPicture({ rounds, results }: LoopbackSummary): TopLevelSpec {
  const sizes = [sizeText(SIZES.small), sizeText(SIZES.large)];
  const order = [...new Set(results.filter(({ subject }) => !subject.endsWith("/bare")).map(nameOf))];
  const bySize = { field: "size", type: "nominal", title: "response" } as const;
  const colours = LINE_STYLES.slice(0, 2).map(({ colour }) => colour);
  const color = { ...bySize, scale: { domain: sizes, range: colours } };
  const shape = { ...bySize, scale: { domain: sizes, range: ["circle", "diamond"] } };
  return {
    title: {
      text: "What a request costs, beside the edge alone",
      subtitle: [
        "Ratios within a round: below 1 is less, above 1 more; workerd's CPU beside a worker that only passes on.",
        `Marks: median of ${rounds} rounds; bars: 95 % interval.`,
      ],
    },
    columns: IN_A_ROW,
    align: "none",
    spacing: 20,
    concat: PANELS.map(({ figure, loop, title, reference }, panel) => {
      const ratio = {
        type: "quantitative" as const,
        title: `${title}, ratio`,
        scale: { type: "log" as const, nice: false, padding: 12 },
        axis: { tickCount: 4 },
      };
      const y = {
        field: "arm",
        type: "nominal" as const,
        title: null,
        scale: { domain: order },
        // All panels have the same lines: their names stand once a row.
        axis: panel % IN_A_ROW === 0 ? { labelLimit: 320, grid: false } : null,
      };
      const place = { y, yOffset: { field: "size", type: "nominal" as const, scale: { domain: sizes } } };
      const values = results.flatMap((result) => {
        const found = result.figures[figure]?.ratio;
        if (result.loop !== loop || result.subject.endsWith(`/${reference}`) || found === undefined) return [];
        const [low, high] = found.interval ?? [null, null];
        return [{ arm: nameOf(result), size: result.group, ratio: found.median, low, high }];
      });
      return {
        width: 190,
        height: { step: 22, for: "position" as const },
        data: { values },
        layer: [
          {
            mark: { type: "rule" as const, color: FAINT, strokeDash: [4, 3] },
            encoding: { x: { datum: 1, ...ratio } },
          },
          {
            transform: [{ filter: "isValid(datum.low)" }],
            mark: { type: "rule" as const, strokeWidth: 2 },
            encoding: { ...place, x: { field: "low", ...ratio }, x2: { field: "high" }, color },
          },
          {
            mark: { type: "point" as const, filled: true, size: 60, opacity: 1 },
            encoding: { ...place, x: { field: "ratio", ...ratio }, color, shape },
          },
        ],
      };
    }),
  };
}

/** Without what a table has room for. */
function nameOf({ title }: { readonly title: string }): string {
  return title
    .replace("this worker, ", "")
    .replaceAll("`", "")
    .replace(/[,:].*/, "");
}
