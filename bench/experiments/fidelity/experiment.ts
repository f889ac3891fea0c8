import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineCheck } from "../../harness/experiment.ts";
import { dayOf, FIDELITY_FOLDER, thisMachine } from "../../harness/machine.ts";
import { flag } from "../../model/options.ts";
import type { KnownFidelity } from "../../model/recorded-run.ts";
import { fidelityTable, MUST_HOLD_MBPS, verdictOf } from "./findings.ts";
import { measureFidelity } from "./measure.ts";

// A check and no experiment of rows: what is timed and misses its bound is measured again at once, and whether the emulated
// path holds is an answer about all settings together, within a minute and a half.
export const experiment = defineCheck({
  options: { quick: flag("fewer settings: whether it works") },
  folderName: ({ quick }) => (quick ? "fidelity-quick" : undefined),
  check: async ({ options: { quick }, command, signal, progress }) => {
    const rows = await measureFidelity(quick, signal, (share) => progress.show(share, "settings"));
    const { ok, limitMbps } = verdictOf(rows);
    const about = thisMachine();
    const summary = { date: dayOf(Date.now()), kernel: about.kernel, limitMbps, command, machine: about, ok, rows };
    summary satisfies KnownFidelity;
    // Other reports look it up where it always is; a quick run knows too little of this machine for that.
    if (!quick) {
      mkdirSync(FIDELITY_FOLDER, { recursive: true });
      writeFileSync(join(FIDELITY_FOLDER, "summary.json"), `${JSON.stringify(summary, undefined, 2)}\n`);
    }
    return summary;
  },
  report: ({ command, date, kernel, limitMbps, rows }) => ({
    values: { command, date, kernel, limitMbps, mustHold: MUST_HOLD_MBPS, table: fidelityTable(rows) },
  }),
  lines: ({ rows, ok, limitMbps }) => [
    fidelityTable(rows),
    ok
      ? `holds up to ${limitMbps} Mbit/s on this machine`
      : `does NOT hold: a bound is missed without a bottleneck or at ${MUST_HOLD_MBPS} Mbit/s or less`,
  ],
  holds: ({ ok }) => ok,
});
