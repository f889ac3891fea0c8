import { mkdirSync, writeFileSync } from "node:fs";
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { flag, type OptionSchema, type OptionsOf, readOptions, words } from "../model/options.ts";
import type { Report } from "./experiment.ts";
import { onInterruption } from "./interruption.ts";
import { type Progress, startProgress } from "./progress.ts";
import { writeResults } from "./results.ts";

/**
 * An experiment that is measured in one go, of a minute or two: it keeps no rows, so that there is nothing to go on with, and
 * writes its summary and its report at its end.
 */
export interface Check<Schema extends OptionSchema = OptionSchema, Summary extends object = object> {
  readonly about: string;
  readonly options: Schema;
  /** Where a run with these options goes, if not to a folder of the experiment's name. */
  folderName?(options: OptionsOf<Schema>): string | undefined;
  check(run: CheckRun<OptionsOf<Schema>>): Promise<Summary>;
  report(summary: Summary): Report;
  lines(summary: Summary): readonly string[];
  /** Whether the command succeeds. */
  holds(summary: Summary): boolean;
}

export interface CheckRun<Options> {
  readonly options: Options;
  readonly command: string;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export function defineCheck<Schema extends OptionSchema, Summary extends object>(
  check: Check<Schema, Summary>,
): Check<Schema, Summary> {
  return check;
}

/** @throws UserError */
export async function runCheck(name: string, check: Check, args: readonly string[]): Promise<void> {
  const options = readOptions(args, {
    ...check.options,
    out: words("FOLDER", `where the report goes (.adaptive-h3/bench/${name})`, undefined),
    report: flag("measure nothing: make the report of the summary there again"),
  });
  const folder = resolve(options.out ?? join(ROOT, ".adaptive-h3/bench", check.folderName?.(options) ?? name));
  const summary = options.report ? summaryIn(folder) : await measured(name, check, options, args);
  if (summary === undefined) return;
  mkdirSync(folder, { recursive: true });
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const files = await writeResults(name, summary, check.report(summary), write);
  for (const line of check.lines(summary)) console.log(line);
  console.log(`In ${relative(process.cwd(), folder) || "."}: ${files.join(", ")}.`);
  if (!check.holds(summary)) process.exitCode = 1;
}

function summaryIn(folder: string): object {
  const file = join(folder, "summary.json");
  if (!existsSync(file)) throw new UserError(`${folder} holds no summary.json to make a report of.`);
  return JSON.parse(readFileSync(file, "utf8")) as object;
}

async function measured(
  name: string,
  check: Check,
  options: object,
  args: readonly string[],
): Promise<object | undefined> {
  const { signal, release } = onInterruption();
  const progress = startProgress(0);
  const command = ["npm run bench --", name, ...args].join(" ");
  try {
    return await check.check({ options: options as never, command, signal, progress });
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = 130;
    console.error("Interrupted: nothing is written.");
    return undefined;
  } finally {
    progress.end();
    release();
  }
}
