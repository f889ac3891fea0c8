import type { TopLevelSpec } from "vega-lite";
import type { OptionSchema, OptionsOf } from "../model/options.ts";
import type { Start } from "../model/recorded-run.ts";
import type { RowOf, RowSchema } from "../model/row-schema.ts";
import type { Progress } from "../../base/progress.ts";
import type { Asked, RunFolder } from "./run-folder.ts";
import type { Values } from "../analysis/tables/template.ts";

/** What measuring works with. */
export interface Run<Options, Row> {
  readonly options: Options;
  /** The rows so far; a row that is appended is in the file. */
  readonly folder: RunFolder<Row>;
  /** Aborted where somebody interrupts the run. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** A run that is complete: all that a summary is made from. */
export interface Recorded<Options, Row> {
  readonly name: string;
  /** What a person types to get the same. */
  readonly command: string;
  readonly options: Options;
  readonly rows: readonly Row[];
  /** Every start of the run, with the machine and the versions it had. */
  readonly starts: readonly Start[];
  /** The run's folder. */
  readonly path: string;
}

/** What fills an experiment's report.md, and the pictures that it names by their files. */
export interface Report {
  readonly values: Values;
  readonly pictures?: readonly { readonly file: string; readonly spec: TopLevelSpec }[];
}

/**
 * An experiment: its data and what is special about it. The harness does what all share: options, resuming at any row,
 * interruption, progress, rows.csv, summary.json, report.md and the pictures.
 */
export interface Experiment<
  Schema extends OptionSchema = OptionSchema,
  Columns extends RowSchema = RowSchema,
  Summary extends object = object,
> {
  /** Beside those that every experiment has: --out, --fresh, --report. */
  readonly options: Schema;
  readonly row: Columns;
  /** Where a run with these options goes, if not to a folder of the experiment's name. */
  folderName?(options: OptionsOf<Schema>): string | undefined;
  /** All that decides which rows belong together: a folder holds rows of one such question. */
  question(options: OptionsOf<Schema>): Asked;
  /** The share of the work that these rows are; 1 where nothing is left to measure. */
  done(options: OptionsOf<Schema>, rows: readonly RowOf<Columns>[]): number;
  /** How many slow cells are measured at a time; 1 unless given. */
  lanes?(options: OptionsOf<Schema>): number;
  /** Builds what it runs, unless given the lab; the versions of tools that no other experiment has. @throws UserError */
  prepare?(options: OptionsOf<Schema>): Promise<Start["tools"]>;
  /** Appends the rows that are missing, until there are all of them or the signal aborts. @throws UserError */
  measure(run: Run<OptionsOf<Schema>, RowOf<Columns>>): Promise<void>;
  /** summary.json: every figure that the report and the pictures show. */
  summarise(recorded: Recorded<OptionsOf<Schema>, RowOf<Columns>>): Summary;
  report(summary: Summary, recorded: Recorded<OptionsOf<Schema>, RowOf<Columns>>): Report;
  /** Why a run that came to its end has failed all the same. */
  fault?(rows: readonly RowOf<Columns>[]): string | undefined;
}

/**
 * An experiment that is measured in one go, of a minute or two: it keeps no rows, so that there is nothing to go on with, and
 * writes its summary and its report at its end.
 */
export interface Check<Schema extends OptionSchema = OptionSchema, Summary extends object = object> {
  readonly options: Schema;
  folderName?(options: OptionsOf<Schema>): string | undefined;
  check(run: CheckRun<OptionsOf<Schema>>): Promise<Summary>;
  report(summary: Summary): Report;
  /** The findings in short, for the terminal. */
  lines(summary: Summary): readonly string[];
  /** Whether the command succeeds. */
  holds(summary: Summary): boolean;
}

export interface CheckRun<Options> extends Pick<Run<Options, never>, "options" | "signal" | "progress"> {
  readonly command: string;
}

/** Infers an experiment's types. */
export function defineExperiment<Schema extends OptionSchema, Columns extends RowSchema, Summary extends object>(
  experiment: Experiment<Schema, Columns, Summary>,
): Experiment<Schema, Columns, Summary> {
  return experiment;
}

export function defineCheck<Schema extends OptionSchema, Summary extends object>(
  check: Check<Schema, Summary>,
): Check<Schema, Summary> {
  return check;
}
