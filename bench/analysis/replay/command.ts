import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { MIXES } from "../calibrate/mixes.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { OURS } from "./contenders.ts";
import { replay } from "./replay.ts";
import { replayReport } from "./report.ts";

const OPTIONS = {
  calibration: { type: "string", default: "bench/results/calibration" },
  evaluation: { type: "string", default: "bench/results/ohashi-evaluation" },
  grid: { type: "string", default: "bench/results/ohashi-grid" },
  mix: { type: "string", default: "nine-networks" },
  out: { type: "string", default: ".adaptive-h3/bench/replay" },
} as const;

/** Plays every policy on recorded rows: no network, no root. @throws UserError */
export async function replayCommand(args: readonly string[]): Promise<void> {
  const values = read(args);
  if (!Object.hasOwn(MIXES, values.mix))
    throw new UserError(`--mix must be one of ${Object.keys(MIXES).join(", ")}, not ${values.mix}.`);
  const mix = MIXES[values.mix as keyof typeof MIXES];
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

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UserError(
      `${(error as Error).message}\nKnown options:\n${Object.entries(OPTIONS)
        .map(([name, option]) => `  --${name} (${option.default})`)
        .join("\n")}`,
    );
  }
}
