import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { MIX_NAMES, MIXES } from "../calibrate/mixes.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import { oneOf, readOptions, words } from "../../model/options.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { OURS } from "./contenders.ts";
import { replay } from "./replay.ts";
import { replayReport } from "./report.ts";

const OPTIONS = {
  calibration: words(
    "FOLDER",
    "run that policies are calibrated on (bench/results/calibration)",
    "bench/results/calibration",
  ),
  evaluation: words(
    "FOLDER",
    "run that they are scored on (bench/results/ohashi-evaluation)",
    "bench/results/ohashi-evaluation",
  ),
  grid: words("FOLDER", "run of the published grid (bench/results/ohashi-grid)", "bench/results/ohashi-grid"),
  mix: oneOf(
    "NAME",
    `networks that an unknown client is taken from: ${MIX_NAMES.join(", ")} (nine-networks)`,
    MIX_NAMES,
    "nine-networks",
  ),
  out: words("FOLDER", "where the report goes (.adaptive-h3/bench/replay)", ".adaptive-h3/bench/replay"),
};

/** Plays every policy on recorded rows: no network, no root. @throws UserError */
export async function replayCommand(args: readonly string[]): Promise<void> {
  const values = readOptions(args, OPTIONS);
  const mix = MIXES[values.mix];
  const rowsOf = (folder: string): LoadRow[] => rowsIn(resolve(ROOT, folder), LOAD_ROW);
  const [calibration, evaluation, grid] = [rowsOf(values.calibration), rowsOf(values.evaluation), rowsOf(values.grid)];
  const tables = replay({ calibration, evaluation, grid, mix, seed: 1 });
  if (tables.length === 0) throw new UserError(`${values.calibration} has too few rows to calibrate anything on.`);
  const { markdown, pictures } = await replayReport(tables, {
    command: ["npm run bench -- replay", ...args].join(" "),
    rows: {
      [values.calibration]: calibration.length,
      [values.evaluation]: evaluation.length,
      [values.grid]: grid.length,
    },
    mix: mix.about,
  });
  const out = resolve(ROOT, values.out);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "report.md"), markdown);
  writeFileSync(join(out, "summary.json"), `${JSON.stringify(tables, undefined, 2)}\n`);
  for (const { file, svg } of pictures) writeFileSync(join(out, file), svg);
  const percent = (ratio: number): string => `${(100 * ratio).toFixed(1)} %`.padStart(8);
  for (const { congestion, on, sessions, cells, scores } of tables) {
    console.log(`\n${congestion}, ${sessions}; ${on}, ${cells} cells${" ".repeat(6)}mean     p95   worst`);
    for (const { contender, mean, p95, worst } of scores)
      console.log(
        `${contender === OURS ? "* " : "  "}${contender.padEnd(40)}${percent(mean)}${percent(p95)}${percent(worst)}`,
      );
  }
  console.log(`\nReport: ${relative(process.cwd(), join(out, "report.md"))}.`);
}
