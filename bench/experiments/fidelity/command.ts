import { FIDELITY_FOLDER, type KnownFidelity } from "../../harness/known-fidelity.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { removeLeftovers } from "../../lab/leftovers.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { startProgress } from "../../harness/progress.ts";
import { type FidelityReport, MUST_HOLD_MBPS } from "./check.ts";
import { fidelityCells, fidelityTable } from "./table.ts";
import { runFidelity } from "./measure.ts";

/**
 * `npm run bench -- fidelity`: prints asked beside measured, and fails where a bound is missed.
 *
 * @throws UserError
 */
export async function fidelity(args: readonly string[]): Promise<void> {
  const { quick, out } = readFlags(args);
  const folder = out !== undefined ? resolve(out) : quick ? `${FIDELITY_FOLDER}-quick` : FIDELITY_FOLDER;
  const { signal, release } = onInterruption();
  const progress = startProgress(0);
  let report: FidelityReport;
  try {
    await removeLeftovers();
    report = await runFidelity({ quick, signal, onProgress: (done, of) => progress.show(done / of, "settings") });
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = 130;
    console.error("Interrupted: nothing is written.");
    return;
  } finally {
    progress.end();
    release();
  }
  for (const line of fidelityTable(report)) console.log(line);
  const about = machine();
  const known: KnownFidelity = {
    date: new Date().toISOString().slice(0, 10),
    kernel: about.kernel,
    limitMbps: report.limitMbps,
  };
  const command = ["npm run bench -- fidelity", ...args].join(" ");
  const summary = { ...known, command, machine: about, ...report };
  // Other reports look it up where it always is; a quick run knows too little of this machine for that.
  for (const target of new Set(quick ? [folder] : [folder, FIDELITY_FOLDER])) {
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "summary.json"), `${JSON.stringify(summary, undefined, 2)}\n`);
    writeFileSync(join(target, "report.md"), markdown(report, known, command));
  }
  console.log(`In ${relative(process.cwd(), folder) || "."}: report.md, summary.json.`);
  if (!report.ok) process.exitCode = 1;
}

function markdown(report: FidelityReport, { date, kernel, limitMbps }: KnownFidelity, command: string): string {
  const [heads = [], ...rows] = fidelityCells(report);
  return `# fidelity: the emulated network against what was asked of it

\`${command}\`, ${date}, kernel ${kernel}. Measured by pathprobe's own packets and clocks, not by the path's counters.

Bounds: rate within 3 %; one-way delay within 0.5 ms at the median and 1 ms at p99; loss within its 95 % interval (over all
rows together: a row beyond its own fails only beyond the interval of the family). What is timed and misses is measured again,
up to three times in all, as another program that takes a core for a moment delays packets too: every measurement is below,
the last one counts. The bounds hold up to **${limitMbps} Mbit/s** on this
machine; a bound missed at or under ${MUST_HOLD_MBPS} Mbit/s fails the command.

${figuresTable(heads, rows)}
`;
}

function readFlags(args: readonly string[]): { quick: boolean; out?: string | undefined } {
  try {
    return parseArgs({
      args: [...args],
      options: { quick: { type: "boolean", default: false }, out: { type: "string" } },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown here: --quick, --out FOLDER.`);
  }
}
