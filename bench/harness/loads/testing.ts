import { renderSvg } from "../../analysis/charts/chart.ts";
import { readOptions } from "../../model/options.ts";
import { reportText } from "../run.ts";
import type { LoadsExperiment } from "./define.ts";
import { reportHead } from "./head.ts";
import { LOAD_OPTIONS, loadOptions } from "./options.ts";
import type { Arm } from "../../model/arm.ts";
import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import type { Flow } from "../../model/flow.ts";
import type { LoadRow } from "../../model/load-row.ts";
import type { Start } from "../../model/recorded-run.ts";
import { exampleRow } from "../../model/testing.ts";
import type { LoadsRecorded } from "./recorded.ts";

/** What a report of these rows is made of. */
export function exampleInput(experiment: LoadExperiment, rows: readonly LoadRow[]): LoadsRecorded {
  return {
    name: "an-experiment",
    experiment,
    rows,
    windows: [],
    starts: [exampleStart()],
    command: "npm run bench -- x",
    seed: 1,
    quic: "quic-go",
  };
}

/** Ten loads of an arm around a mean, without noise beyond a known pattern. */
export function exampleLoads(
  cell: Cell,
  arm: Arm,
  flow: Flow,
  meanMs: number,
  given: Partial<LoadRow> = {},
): LoadRow[] {
  return Array.from({ length: 10 }, (_, round) =>
    exampleRow({
      id: `${cell.id}/${arm}/${flow}/${round}`,
      cell: cell.id,
      congestion: cell.congestion,
      arm,
      flow,
      round,
      startedMs: 1e12,
      loadMs: meanMs * (1 + (round % 2 === 0 ? 0.01 : -0.01)),
      lastProtocol: arm === "fixed-h3" ? "h3" : "h2",
      ...given,
    }),
  );
}

/** A start for tests of reports. */
export function exampleStart(): Start {
  return {
    at: "2026-01-01T00:00:00Z",
    lanes: 4,
    rowsBefore: 0,
    machine: {
      kernel: "6.0",
      arch: "x64",
      cpu: "a processor",
      cores: 2,
      memoryGiB: 8,
      go: "go1.26",
      quicGo: "v0.65.0",
      k6: "v1.8.1",
      workerd: "1",
      node: "v24",
      commit: "abc",
    },
  };
}

/** The summary, the report's text and the pictures that an experiment's folder makes of a run. */
export async function reportOf<Summary extends object>(
  name: string,
  { definition }: Pick<LoadsExperiment<Summary>, "definition">,
  recorded: LoadsRecorded,
): Promise<{ summary: Summary; markdown: string; pictures: { file: string; svg: string }[] }> {
  const summary = definition.summarise(recorded);
  const { values, pictures = [] } = definition.report(summary, recorded);
  return {
    summary,
    markdown: reportText(name, { values: { head: reportHead(recorded), ...values } }),
    pictures: await Promise.all(pictures.map(async ({ file, spec }) => ({ file, svg: await renderSvg(spec) }))),
  };
}

/** The options of an experiment made of loads, as a person gives them. */
export function exampleOptions(...args: readonly string[]): LoadOptions {
  return loadOptions(readOptions(args, LOAD_OPTIONS));
}
