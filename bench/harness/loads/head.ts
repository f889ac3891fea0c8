import { armsOf, type Experiment, loadsOf } from "../../model/experiment.ts";
import { resumeOf } from "../../model/flow.ts";
import { ARM_SETUPS, type Quic } from "../../model/arm.ts";
import type { Machine } from "../../model/machine.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { isMostlyBusy } from "../../analysis/loads/groups.ts";
import type { ReportInput } from "./report.ts";

/** The first part of every report: what was run, on what, and what was left out. */
export function reportHead({ experiment, rows, starts, command, quic, fidelity }: ReportInput): string {
  const machine = starts.at(-1)?.machine;
  if (machine === undefined) throw new Error("A report is of a run, and this one never started.");
  const different = (values: readonly (string | number)[]): string => [...new Set(values)].join(", ");
  const count = (predicate: (row: LoadRow) => boolean): number => rows.filter((row) => predicate(row)).length;
  const startsMs = rows.map(({ startedMs }) => startedMs).filter((ms) => ms > 0);
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const days =
    startsMs.length === 0 ? "" : [...new Set([day(Math.min(...startsMs)), day(Math.max(...startsMs))])].join(" to ");
  const busy = count(({ dropped }) => dropped === "busy");
  const late = count(({ dropped }) => dropped === "late");
  const isResuming = experiment.cells.some((cell) =>
    loadsOf(experiment, cell).some(({ flow }) => resumeOf(flow) !== undefined),
  );
  const isOwn = armsOf(experiment).some((arm) => ARM_SETUPS[arm].quic !== undefined);
  const others = isOwn ? " that has one" : quic === "quic-go" ? "" : " over HTTP/2 (quiche answers by itself)";
  return `# ${experiment.name}: ${experiment.about}

\`${command}\`, ${days}.

- Stack: Go ${machine.go.replace("go", "")} net/http (HTTP/2 over the kernel's TCP, congestion control as named below) and ${quicText(quic, machine)}
  (HTTP/3; its own congestion control, ${quic === "quic-go" ? "Reno-like, " : ""}whatever TCP's is), workerd ${machine.workerd}, the same worker in every arm${others}.
  Client: k6 ${machine.k6} with sessions of Go's net/http and quic-go; ${isResuming ? "no TLS resumption, no 0-RTT but where a flow says so" : "no TLS resumption, no 0-RTT"}.
- Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${different(starts.map(({ machine: { commit } }) => commit))}. Slow cells were measured ${different(starts.map(({ lanes }) => lanes))} at a time, each on a
  path and with an edge of its own; fast ones alone.
- Rows: ${rows.length}, of which ${count(counts)} count. Left out: ${busy} as a core was over 85 % busy, ${late} as over 1 % of the packets left
  the emulated path over 1 ms late, ${count(({ dropped }) => dropped === "fault")} as that lost packets by its own fault. Failed loads: ${count(({ outcome }) => outcome === "failed")}; timeouts: ${count(({ outcome }) => outcome === "timeout")} (they count with ${experiment.timeoutMs / 1000} s).
  Busy or late is unknown of ${count(({ busyRatio, lateRatio }) => busyRatio === null || lateRatio === null)}. Loads of \`fixed-h3\` that fell back to TCP: ${count(({ arm, lastProtocol }) => arm === "fixed-h3" && lastProtocol !== "h3" && lastProtocol !== "")}; of \`always-offer\` that did not
  switch: ${count(({ arm, switched }) => arm === "always-offer" && !switched)}.
${mostlyBusy(rows)}- Where under five loads of an arm count, "busy:" gives the mean of those that were left out for a busy core: what this machine
  could do, not what the path allows.
- ${fidelityLine(experiment, fidelity)}
- Arms, interleaved in random order:
${armsOf(experiment)
  .map((arm) => `  - \`${arm}\`: ${ARM_SETUPS[arm].about}`)
  .join("\n")}
- Means with 95 % intervals (studentised bootstrap of the log); rows are in rows.csv, all figures in summary.json.
${experiment.notes.map((note) => `- ${note}\n`).join("")}`;
}

function quicText(quic: Quic, { quicGo, quiche = "of unknown version" }: Machine): string {
  return quic === "quic-go" ? `quic-go ${quicGo}` : `quiche ${quiche} with its ${quic.replace("quiche-", "")}`;
}

function fidelityLine({ cells }: Experiment, fidelity: ReportInput["fidelity"]): string {
  if (fidelity === undefined)
    return "Whether the emulated path is what it is asked to be was not checked on this machine: `npm run bench -- fidelity`.";
  const above = [...new Set(cells.map(({ network }) => network.rateMbps))].filter((rate) => rate > fidelity.limitMbps);
  const held = `The emulated path keeps its bounds up to ${fidelity.limitMbps} Mbit/s here (\`fidelity\`, ${fidelity.date})`;
  return above.length === 0
    ? `${held}: no network of this run is faster.`
    : `${held}. **Networks of ${above.join(", ")} Mbit/s lie above that**: take their figures with care.`;
}

/** Leaving out loads that kept a core busy leaves out the fast ones: the reader must know where. */
function mostlyBusy(rows: readonly LoadRow[]): string {
  const cells = [...Map.groupBy(rows, ({ cell }) => cell)].flatMap(([cell, own]) => {
    const arms = [...Map.groupBy(own, ({ arm }) => arm)].filter(([, loads]) => isMostlyBusy(loads));
    return arms.length === 0 ? [] : [`${cell} (${arms.map(([arm]) => arm).join(", ")})`];
  });
  if (cells.length === 0) return "";
  const named = cells.length <= 20 ? cells.join("; ") : `${cells.length} cells`;
  return `- **Many loads left out** in ${named}: over 30 % of an arm's loads, for a busy core. Where it was the load itself that kept
  it busy (fast networks without delay), those that count are the slower ones: do not compare arms there.
`;
}
