import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { renderSvg } from "../analysis/charts/chart.ts";
import { flag, type OptionSchema, type OptionsOf, readOptions, words } from "../model/options.ts";
import { readStarts } from "../model/recorded-run.ts";
import type { RowOf, RowSchema } from "../model/row-schema.ts";
import { buildLab } from "../lab/programs.ts";
import type { Check, Experiment, Report } from "./experiment.ts";
import { knownFidelity, thisMachine } from "./machine.ts";
import { startProgress } from "../../base/progress.ts";
import { addStart, jsonText, openRunFolder, type RunFolder, writeIn } from "./run-folder.ts";
import { fillFile } from "../analysis/tables/template.ts";

const EXPERIMENTS = join(ROOT, "bench/experiments");

/** Every experiment, by the name of its folder, with what its report's title says of it. Nothing of it is imported. */
export function listExperiments(): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(EXPERIMENTS)
      .toSorted()
      .map((name) => {
        const about = new RegExp(`^# ${name}: (.+)\n`).exec(
          readFileSync(join(EXPERIMENTS, name, "report.md"), "utf8"),
        )?.[1];
        if (about === undefined)
          throw new Error(`bench/experiments/${name}/report.md does not begin with "# ${name}: ".`);
        return [name, about];
      }),
  );
}

/** What a folder's experiment.ts exports as `experiment`. */
export async function loadExperiment(name: string): Promise<Experiment | Check> {
  const file = pathToFileURL(join(EXPERIMENTS, name, "experiment.ts")).href;
  const { experiment } = (await import(file)) as { experiment?: Experiment | Check };
  if (experiment === undefined) throw new Error(`bench/experiments/${name}/experiment.ts exports no experiment.`);
  return experiment;
}

/** The options of every experiment. */
export function commonOptions(name: string) {
  return {
    out: words("FOLDER", `where rows and report go (.adaptive-h3/bench/${name})`, undefined),
    fresh: flag("begin anew where the folder holds a run"),
    report: flag("measure nothing: make the report of what was measured there again"),
  };
}

/** What a run was told of how to go about it says nothing of what was measured. */
const HOW = new Set(["--fresh", "--report"]);

/** What was asked as a report shows it: where others keep their data is theirs. */
function shown(args: readonly string[]): string[] {
  return args
    .filter((arg) => !HOW.has(arg))
    .map((arg, i, all) => (isAbsolute(arg) && all[i - 1] !== "--out" ? "PATH" : arg));
}

/** What a person asked for. */
interface Request {
  readonly name: string;
  readonly command: string;
  readonly options: OptionsOf<OptionSchema>;
  readonly fresh: boolean;
  readonly report: boolean;
  /** The run's folder. */
  readonly path: string;
  /** Aborted by Ctrl-C, SIGTERM or SIGHUP, so that work ends in order. Under npm a Ctrl-C comes twice. */
  readonly signal: AbortSignal;
}

/**
 * Runs an experiment to its end, or goes on where it stopped, and writes its summary, its report and its pictures.
 *
 * @throws UserError
 */
export async function runExperiment(name: string, args: readonly string[]): Promise<void> {
  const experiment = await loadExperiment(name);
  const options = readOptions(args, { ...experiment.options, ...commonOptions(name) });
  const { out, fresh, report } = options;
  if (fresh && report) throw new UserError("--fresh and --report exclude each other.");
  const path = resolve(out ?? join(ROOT, ".adaptive-h3/bench", experiment.folderName?.(options) ?? name));
  const command = ["npm run bench --", name, ...shown(args)].join(" ");
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.on("SIGINT", abort).on("SIGTERM", abort).on("SIGHUP", abort);
  const { signal } = controller;
  const request: Request = { name, command, options, fresh, report, path, signal };
  try {
    await ("check" in experiment ? runCheck(experiment, request) : runRows(experiment, request));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    process.off("SIGINT", abort).off("SIGTERM", abort).off("SIGHUP", abort);
  }
  if (signal.aborted) process.exitCode = 130;
}

/** Measures the rows that are missing, and reports on all of them. */
async function runRows(experiment: Experiment, request: Request): Promise<void> {
  const { name, command, options, fresh, report, path, signal } = request;
  const asked = report ? undefined : { experiment: name, ...experiment.question(options) };
  const folder = openRunFolder(path, asked, experiment.row, fresh);
  const { rows } = folder;
  try {
    if (!report) await measureMissing(experiment, request, folder);
    if (signal.aborted) return;
    const starts = readStarts(path);
    if (starts.length === 0)
      throw new UserError(`${path} has no starts.json, which says what its rows were made with.`);
    const recorded = { name, command, options, rows, starts, path };
    const summary = experiment.summarise(recorded);
    await writeResults(request, summary, experiment.report(summary, recorded));
    console.log(`${rows.length} rows, and a report of them, are in ${relative(process.cwd(), path) || "."}.`);
    const fault = experiment.fault?.(rows);
    if (fault !== undefined) throw new UserError(fault);
  } finally {
    folder.close();
    if (signal.aborted) console.error(`Interrupted. ${rows.length} rows are kept: the same command goes on.`);
  }
}

async function measureMissing(
  experiment: Experiment,
  { name, options, path, signal }: Request,
  folder: RunFolder<RowOf<RowSchema>>,
): Promise<void> {
  const done = experiment.done(options, folder.rows);
  if (done >= 1) return;
  const tools = await (experiment.prepare?.(options) ?? buildLab().then(() => undefined));
  if (signal.aborted) return;
  console.error(`${folder.rows.length > 0 ? "Going on with" : "Measuring"} ${name}, into ${path}.`);
  const here = thisMachine();
  const fidelity = knownFidelity(here);
  addStart(path, {
    at: new Date().toISOString(),
    lanes: experiment.lanes?.(options) ?? 1,
    rowsBefore: folder.rows.length,
    machine: here,
    ...(fidelity !== undefined && { fidelity }),
    ...(tools !== undefined && { tools }),
  });
  const progress = startProgress(done);
  try {
    await experiment.measure({ options, folder, signal, progress });
    if (!signal.aborted) progress.show(1, `${folder.rows.length} rows`);
  } finally {
    progress.end();
  }
}

async function runCheck(check: Check, request: Request): Promise<void> {
  const { command, options, path, report, signal } = request;
  const file = join(path, "summary.json");
  if (report && !existsSync(file)) throw new UserError(`${path} holds no summary.json to make a report of.`);
  const progress = startProgress(0);
  let summary: object;
  try {
    summary = report
      ? (JSON.parse(readFileSync(file, "utf8")) as object)
      : await check.check({ options, command, signal, progress });
  } finally {
    progress.end();
    if (signal.aborted) console.error("Interrupted: nothing is written.");
  }
  if (signal.aborted) return;
  mkdirSync(path, { recursive: true });
  await writeResults(request, summary, check.report(summary));
  for (const line of check.lines(summary)) console.log(line);
  console.log(`The report is in ${relative(process.cwd(), path) || "."}.`);
  if (!check.holds(summary)) process.exitCode = 1;
}

/** Writes summary.json, report.md and the pictures. @throws UserError where the folder cannot be written */
async function writeResults({ name, path }: Request, summary: object, report: Report): Promise<void> {
  writeIn(path, "summary.json", jsonText(summary));
  writeIn(path, "report.md", reportText(name, report));
  for (const { file, spec } of report.pictures ?? []) writeIn(path, file, await renderSvg(spec));
}

/** An experiment's folder holds its report's template. */
export function reportText(experiment: string, { values }: Report): string {
  return `${fillFile(`bench/experiments/${experiment}/report.md`, values).trimEnd()}\n`;
}
