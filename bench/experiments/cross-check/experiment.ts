import { defineExperiment } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { lastMachine } from "../../harness/machine-text.ts";
import { buildLab } from "../../lab/programs.ts";
import { decimal, flag, someOf, wholeNumber } from "../../model/options.ts";
import { crossCheckValues, findingsTable } from "./findings.ts";
import { ARM_OF, measureLoad } from "./measure-load.ts";
import { requireTheirClient } from "./python.ts";
import { counts, CROSS_ROW, type CrossRow } from "./row.ts";
import { nextRound } from "./schedule.ts";
import { CLIENTS, NETWORK_NAMES, PROTOCOLS, type Setting, settingsOf } from "./settings.ts";
import { findingOf } from "./verdict.ts";

/** Nothing here should fail; a client that does not work at all must not cost a timeout a load. */
const FAILURES_MAX = 3;

export const OPTIONS = {
  quick: flag("three loads of the nearest network: whether it works"),
  seed: wholeNumber("what order, losses and resamples are drawn from (1)", [0, 999_999_999], 1),
  networks: someOf(`some only, with commas: ${NETWORK_NAMES.join(", ")}`, NETWORK_NAMES, NETWORK_NAMES, "be of"),
  "their-ack-delay-ms": decimal(
    "N",
    "how late the second client acknowledges QUIC packets, instead of as aioquic does",
    [0, 999],
    undefined,
  ),
};

/** A second, independent client loads from the same edge over the same path as ours: do their load times agree? */
export const experiment = defineExperiment({
  about: "a second, independent client beside ours, over the same path",
  options: OPTIONS,
  row: CROSS_ROW,
  question: ({ seed, "their-ack-delay-ms": theirAckDelayMs = null, ...which }) => ({
    seed,
    theirAckDelayMs,
    settings: settingsOf(which),
  }),
  done: ({ seed, ...which }, rows) => (isOver(settingsOf(which), rows, seed) ? 1 : shareDone(settingsOf(which), rows)),
  prepare: async (_, signal) => {
    const versions = await requireTheirClient(signal);
    await buildLab();
    return versions;
  },
  measure: async ({ options: { seed, "their-ack-delay-ms": theirAckDelayMs, ...which }, folder, signal, progress }) => {
    const settings = settingsOf(which);
    const arms = PROTOCOLS.map((protocol) => ARM_OF[protocol]);
    await inLab({ arms, lanes: 1 }, signal, async (lab, lane, either) => {
      const options = { lane, folder: lab.folder, seed, theirAckDelayMs, signal: either };
      const first = 1 + Math.max(-1, ...folder.rows.map(({ round }) => round));
      for (let round = first; !isOver(settings, folder.rows, seed); round++)
        for (const load of nextRound(settings, folder.rows, round, seed)) {
          if (isOver(settings, folder.rows, seed)) return;
          folder.append(await measureLoad(load, options));
          progress.show(shareDone(settings, folder.rows), `${folder.rows.length} rows, now ${load.id}`);
        }
    });
  },
  summarise: ({ options: { seed, "their-ack-delay-ms": theirAckDelayMs = null, ...which }, rows, command, starts }) => {
    const settings = settingsOf(which);
    const findings = settings.flatMap(({ network }) =>
      PROTOCOLS.map((protocol) => findingOf(network.name, protocol, rows, seed)),
    );
    const python = (starts.at(-1)?.tools ?? {}) as Readonly<Record<string, string>>;
    return { command, theirAckDelayMs, settings, findings, machine: lastMachine(starts), python };
  },
  report: (summary) => ({ values: crossCheckValues(summary) }),
  lines: ({ findings }) => [findingsTable(findings)],
  fault: (rows) => {
    const failed = rows.find(({ outcome }) => outcome !== "ok");
    return failed === undefined ? undefined : `A load failed, ${failed.id}: ${failed.error}.`;
  },
});

function shareDone(settings: readonly Setting[], rows: readonly CrossRow[]): number {
  const all = settings.reduce((sum, { runs }) => sum + CLIENTS.length * PROTOCOLS.length * runs, 0);
  return Math.min(rows.filter(counts).length / all, 0.999);
}

/** Whether all loads were made, or too many failed. */
function isOver(settings: readonly Setting[], rows: readonly CrossRow[], seed: number): boolean {
  const failures = rows.filter(({ outcome }) => outcome !== "ok").length;
  return failures >= FAILURES_MAX || nextRound(settings, rows, 0, seed).length === 0;
}
