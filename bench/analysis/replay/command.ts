import { mkdirSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { folder, mixOf } from "../calibrate/options.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import { readOptions } from "../../model/options.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { OURS } from "./contenders.ts";
import { replay } from "./replay.ts";
import { replayReport } from "./report.ts";

const OPTIONS = {
  calibration: folder("run that policies are calibrated on", "bench/results/calibration"),
  evaluation: folder("run that they are scored on", "bench/results/ohashi-evaluation"),
  grid: folder("run of the published grid", "bench/results/ohashi-grid"),
  mix: mixOf("nine-networks"),
  out: folder("where the report goes", ".adaptive-h3/bench/replay"),
};

/** Plays every policy on recorded rows: no network, no root. @throws UserError */
export async function replayCommand(args: readonly string[]): Promise<void> {
  const { mix, out, ...runs } = readOptions(args, OPTIONS);
  const rowsOf = (folderOfRun: string): LoadRow[] => rowsIn(resolve(ROOT, folderOfRun), LOAD_ROW);
  const rows = {
    calibration: rowsOf(runs.calibration),
    evaluation: rowsOf(runs.evaluation),
    grid: rowsOf(runs.grid),
  };
  const tables = replay({ ...rows, mix, seed: 1 });
  if (tables.length === 0) throw new UserError(`${runs.calibration} has too few rows to calibrate anything on.`);
  const report = replayReport(tables, {
    command: ["npm run bench -- replay", ...args].join(" "),
    rows: {
      [runs.calibration]: rows.calibration.length,
      [runs.evaluation]: rows.evaluation.length,
      [runs.grid]: rows.grid.length,
    },
    mix: mix.about,
  });
  mkdirSync(resolve(ROOT, out), { recursive: true });
  writeFileSync(resolve(ROOT, out, "report.md"), report);
  writeFileSync(resolve(ROOT, out, "summary.json"), `${JSON.stringify(tables, undefined, 2)}\n`);
  const percent = (ratio: number): string => `${(100 * ratio).toFixed(1)} %`.padStart(8);
  for (const { congestion, on, sessions, cells, scores } of tables) {
    console.log(`\n${congestion}, ${sessions}; ${on}, ${cells} cells${" ".repeat(6)}mean     p95   worst`);
    for (const { contender, mean, p95, worst } of scores)
      console.log(
        `${contender === OURS ? "* " : "  "}${contender.padEnd(40)}${percent(mean)}${percent(p95)}${percent(worst)}`,
      );
  }
  console.log(`\nReport: ${relative(process.cwd(), resolve(ROOT, out, "report.md"))}.`);
}
