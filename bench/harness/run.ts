import { join, relative, resolve } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { flag, type Option, type OptionSchema, readOptions, words } from "../model/options.ts";
import { csvOf, readStarts } from "../model/recorded-run.ts";
import type { Experiment, Recorded } from "./experiment.ts";
import { onInterruption } from "./interruption.ts";
import { knownFidelity } from "./known-fidelity.ts";
import { machine } from "./machine.ts";
import { startProgress } from "./progress.ts";
import { writeResults } from "./results.ts";
import { openRunFolder, type RunFolder } from "./run-folder.ts";
import { addStart } from "./starts.ts";

/** The options of every experiment that has rows. */
export interface CommonOptions extends OptionSchema {
  readonly out: Option<string | undefined>;
  readonly fresh: Option<boolean>;
  readonly report: Option<boolean>;
}

export function commonOptions(name: string): CommonOptions {
  return {
    out: words("FOLDER", `where rows and report go (.adaptive-h3/bench/${name})`, undefined),
    fresh: flag("begin anew where the folder holds a run"),
    report: flag("measure nothing: make the report of the rows there again"),
  };
}

/**
 * Runs an experiment to its end, or goes on where it stopped, and writes its summary, its report and its pictures.
 *
 * @throws UserError
 */
export async function runExperiment(name: string, experiment: Experiment, args: readonly string[]): Promise<void> {
  const options = readOptions(args, { ...experiment.options, ...commonOptions(name) });
  const { out, fresh, report } = options;
  if (fresh && report) throw new UserError("--fresh and --report exclude each other.");
  const path = resolve(out ?? join(ROOT, ".adaptive-h3/bench", experiment.folderName?.(options) ?? name));
  const { signal, release } = onInterruption();
  let folder: RunFolder<object> | undefined;
  try {
    folder = openRunFolder(
      path,
      report ? undefined : { experiment: name, ...experiment.question(options) },
      experiment.row,
      fresh,
    );
    if (!report) await measureMissing(name, experiment, options, folder, signal);
    if (signal.aborted) {
      console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
      process.exitCode = 130;
      return;
    }
    const command = ["npm run bench --", name, ...args.filter((arg) => !HOW.has(arg))].join(" ");
    const starts = readStarts(path);
    if (starts.length === 0)
      throw new UserError(`${path} has no starts.json, which says what its rows were made with.`);
    const recorded: Recorded<object, object> = { name, command, options, rows: folder.rows, starts, path };
    await finish(experiment, recorded, folder);
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error(`Interrupted. ${folder?.rows.length ?? 0} rows are kept: the same command goes on.`);
    process.exitCode = 130;
  } finally {
    folder?.close();
    release();
  }
}

/** What a run was told of how to go about it says nothing of what was measured. */
const HOW = new Set(["--fresh", "--report", "--retry"]);

async function measureMissing(
  name: string,
  experiment: Experiment,
  options: object,
  folder: RunFolder<object>,
  signal: AbortSignal,
): Promise<void> {
  const given = options as never;
  const done = experiment.done(given, folder.rows as never, folder.path);
  if (done >= 1) return;
  const tools = await experiment.prepare(given, signal);
  if (signal.aborted) return;
  console.error(`${folder.rows.length > 0 ? "Going on with" : "Measuring"} ${name}, into ${folder.path}.`);
  const here = machine();
  const fidelity = knownFidelity(here);
  addStart(folder.path, {
    at: new Date().toISOString(),
    lanes: experiment.lanes?.(given) ?? 1,
    rowsBefore: folder.rows.length,
    machine: here,
    ...(fidelity !== undefined && { fidelity }),
    ...(tools !== undefined && { tools }),
  });
  const progress = startProgress(done);
  try {
    await experiment.measure({ options: given, folder: folder as never, signal, progress });
    if (!signal.aborted) progress.show(1, `${folder.rows.length} rows`);
  } finally {
    progress.end();
  }
}

async function finish(
  experiment: Experiment,
  recorded: Recorded<object, object>,
  folder: RunFolder<object>,
): Promise<void> {
  const given = recorded as never;
  const summary = experiment.summarise(given);
  const settled = experiment.settled?.(recorded.rows as never, summary);
  if (settled !== undefined) folder.write("rows.csv", csvOf(settled, experiment.row));
  const files = await writeResults(recorded.name, summary, experiment.report(summary, given), (name, text) =>
    folder.write(name, text),
  );
  for (const line of experiment.lines?.(summary) ?? []) console.log(line);
  const where = relative(process.cwd(), recorded.path) || ".";
  console.log(`${recorded.rows.length} rows. In ${where}: ${["rows.csv", ...files].join(", ")}.`);
  const fault = experiment.fault?.(recorded.rows as never);
  if (fault !== undefined) throw new UserError(fault);
}
