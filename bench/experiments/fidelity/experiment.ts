import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineCheck } from "../../harness/experiment.ts";
import { FIDELITY_FOLDER } from "../../harness/known-fidelity.ts";
import { machine } from "../../harness/machine.ts";
import { dayOf } from "../../harness/machine-text.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { removeLeftovers } from "../../lab/leftovers.ts";
import type { Machine } from "../../model/machine.ts";
import { flag } from "../../model/options.ts";
import type { KnownFidelity } from "../../model/recorded-run.ts";
import { type FidelityReport, MUST_HOLD_MBPS } from "./findings.ts";
import { runFidelity } from "./measure.ts";
import { fidelityCells, fidelityTable } from "./table.ts";

export interface FidelitySummary extends KnownFidelity, FidelityReport {
  readonly command: string;
  readonly kernel: string;
  readonly machine: Machine;
}

// A check and no experiment of rows: what is timed and misses its bound is measured again at once, and whether the emulated
// path holds is an answer about all settings together, within a minute and a half.
export const experiment = defineCheck({
  about: "the emulated network against what was asked of it, by probes of its own",
  options: { quick: flag("fewer settings: whether it works") },
  folderName: ({ quick }) => (quick ? "fidelity-quick" : undefined),
  check: async ({ options: { quick }, command, signal, progress }): Promise<FidelitySummary> => {
    await removeLeftovers();
    const onProgress = (done: number, of: number): void => progress.show(done / of, "settings");
    const report = await runFidelity({ quick, signal, onProgress });
    const about = machine();
    const known = { date: dayOf(Date.now()), kernel: about.kernel, limitMbps: report.limitMbps };
    const summary = { ...known, command, machine: about, ...report };
    // Other reports look it up where it always is; a quick run knows too little of this machine for that.
    if (!quick) {
      mkdirSync(FIDELITY_FOLDER, { recursive: true });
      writeFileSync(join(FIDELITY_FOLDER, "summary.json"), `${JSON.stringify(summary, undefined, 2)}\n`);
    }
    return summary;
  },
  report: (summary: FidelitySummary) => {
    const [heads = [], ...rows] = fidelityCells(summary);
    const { command, date, kernel, limitMbps } = summary;
    return { values: { command, date, kernel, limitMbps, mustHold: MUST_HOLD_MBPS, table: figuresTable(heads, rows) } };
  },
  lines: (summary) => fidelityTable(summary),
  holds: ({ ok }) => ok,
});
