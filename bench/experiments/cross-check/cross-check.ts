import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { startLab } from "../../lab/lab.ts";
import { buildLab } from "../../lab/programs.ts";
import { csvOf } from "../../model/recorded-run.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { ARM_OF, measureLoad } from "./measure-load.ts";
import { commandOf, type CrossCheckOptions, readCrossCheckOptions } from "./options.ts";
import { pythonVersions, requirePython } from "./python.ts";
import { reportText } from "./report.ts";
import { CROSS_ROW, type CrossRow } from "./row.ts";
import { nextRound } from "./schedule.ts";
import { PROTOCOLS, type Setting, settingsOf } from "./settings.ts";
import { type Finding, findingOf } from "./verdict.ts";

/** Nothing here should fail; a client that does not work at all must not cost a timeout a load. */
const FAILURES_MAX = 3;

/**
 * A second, independent client loads from the same edge over the same path as ours: do their load times agree?
 *
 * @throws UserError
 */
export async function crossCheck(args: readonly string[]): Promise<void> {
  const options = readCrossCheckOptions(args);
  const settings = settingsOf(options);
  const folder = options.out === undefined ? join(ROOT, ".adaptive-h3/bench/cross-check") : resolve(options.out);
  const { signal, release } = onInterruption();
  try {
    if (settings.length === 0) throw new UserError("--quick has the network near alone.");
    const python = await requirePython(signal);
    const versions = await pythonVersions(python, signal);
    await buildLab();
    signal.throwIfAborted();
    const rows = await measure(settings, python, options, signal);
    const findings = settings.flatMap(({ network }) =>
      PROTOCOLS.map((protocol) => findingOf(network.name, protocol, rows, options.seed)),
    );
    const { theirAckDelayMs = null } = options;
    const about = {
      command: commandOf(options),
      theirAckDelayMs,
      settings,
      findings,
      machine: machine(),
      python: versions,
    };
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "rows.csv"), csvOf(rows, CROSS_ROW));
    writeFileSync(join(folder, "summary.json"), `${JSON.stringify(about, undefined, 2)}\n`);
    writeFileSync(join(folder, "report.md"), reportText(about));
    for (const finding of findings) console.log(summaryLine(finding));
    console.log(
      `${rows.length} rows. In ${relative(process.cwd(), folder) || "."}: rows.csv, summary.json, report.md.`,
    );
    const failed = rows.find(({ outcome }) => outcome !== "ok");
    if (failed !== undefined) throw new UserError(`A load failed, ${failed.id}: ${failed.error}.`);
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error("Interrupted: nothing is kept.");
    process.exitCode = 130;
  } finally {
    release();
  }
}

async function measure(
  settings: readonly Setting[],
  python: string,
  { seed, theirAckDelayMs }: CrossCheckOptions,
  signal: AbortSignal,
): Promise<CrossRow[]> {
  const lab = await startLab({ arms: PROTOCOLS.map((protocol) => ARM_OF[protocol]), lanes: 1 });
  const broken = new AbortController();
  void lab.failed.then((why) => broken.abort(new UserError(why)));
  const [lane] = lab.lanes;
  const rows: CrossRow[] = [];
  try {
    if (lane === undefined) throw new Error("A lab has a lane.");
    const measureOptions = {
      lane,
      python,
      folder: lab.folder,
      seed,
      theirAckDelayMs,
      signal: AbortSignal.any([signal, broken.signal]),
    };
    for (let round = 0; ; round++) {
      const loads = nextRound(settings, rows, round, seed);
      if (loads.length === 0) return rows;
      console.error(`Round ${round + 1}: ${loads.length} loads.`);
      for (const load of loads) {
        rows.push(await measureLoad(load, measureOptions));
        if (rows.filter(({ outcome }) => outcome !== "ok").length >= FAILURES_MAX) return rows;
      }
    }
  } finally {
    await lab.stop();
  }
}

function summaryLine({ setting, protocol, ours, theirs, ratio, verdict }: Finding): string {
  const figures = `${ours.meanMs.estimate.toFixed(0)} ms ours, ${theirs.meanMs.estimate.toFixed(0)} ms theirs`;
  return `  ${setting} ${protocol}: ${figures}, ratio ${ratio.estimate.toFixed(3)} (${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}): ${verdict}`;
}
