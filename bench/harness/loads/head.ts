import { isMostlyBusy } from "../../analysis/loads/groups.ts";
import { ARM_SETUPS, type Quic } from "../../model/arm.ts";
import { resumeOf } from "../../model/flow.ts";
import { armsOf, type LoadExperiment, loadsOf } from "../../model/load-experiment.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import type { KnownFidelity, Machine } from "../../model/recorded-run.ts";
import { dayOf, distinct, fidelityAt, lastStart, machineText } from "../machine.ts";
import { fillFile, type Value } from "../../analysis/tables/template.ts";
import type { LoadsRecorded } from "./recorded.ts";

/** The first part of the report of every experiment made of loads: what was run, on what, and what was left out. */
export function reportHead({ experiment, rows, starts, command, quic }: LoadsRecorded): string {
  const start = lastStart(starts);
  const { machine } = start;
  const count = (predicate: (row: LoadRow) => boolean): number => rows.filter((row) => predicate(row)).length;
  const startsMs = rows.map(({ startedMs }) => startedMs).filter((ms) => ms > 0);
  const ends = startsMs.length === 0 ? [] : [Math.min(...startsMs), Math.max(...startsMs)];
  return fillFile("bench/harness/loads/head.md", {
    command,
    days: [...new Set(ends.map(dayOf))].join(" to "),
    go: machine.go.replace("go", ""),
    quic: quicText(quic, machine),
    workerd: machine.workerd,
    isQuicGo: quic === "quic-go",
    hasOwnQuic: armsOf(experiment).some((arm) => ARM_SETUPS[arm].quic !== undefined),
    k6: machine.k6,
    isResuming: experiment.cells.some((cell) =>
      loadsOf(experiment, cell).some(({ flow }) => resumeOf(flow) !== undefined),
    ),
    machine: machineText(starts),
    lanes: distinct(starts.map(({ lanes }) => lanes)),
    rows: rows.length,
    counting: count(counts),
    busy: count(({ dropped }) => dropped === "busy"),
    late: count(({ dropped }) => dropped === "late"),
    fault: count(({ dropped }) => dropped === "fault"),
    failed: count(({ outcome }) => outcome === "failed"),
    timeouts: count(({ outcome }) => outcome === "timeout"),
    timeoutS: experiment.timeoutMs / 1000,
    unknown: count(({ busyRatio, lateRatio }) => busyRatio === null || lateRatio === null),
    fellBack: count(({ arm, lastProtocol }) => arm === "fixed-h3" && lastProtocol !== "h3" && lastProtocol !== ""),
    unswitched: count(({ arm, switched }) => arm === "always-offer" && !switched),
    mostlyBusy: mostlyBusy(rows),
    fidelity: fidelityValues(experiment, fidelityAt(start)),
    arms: armsOf(experiment).map((arm) => ({ name: arm, about: ARM_SETUPS[arm].about })),
    notes: experiment.notes.filter((note) => note !== false),
  });
}

function quicText(quic: Quic, { quicGo, quiche = "of unknown version" }: Machine): string {
  return quic === "quic-go" ? `quic-go ${quicGo}` : `quiche ${quiche} with its ${quic.replace("quiche-", "")}`;
}

/** What is known of the emulated path, and which of the run's networks are faster than that. */
function fidelityValues({ cells }: LoadExperiment, fidelity: KnownFidelity | undefined): Value {
  if (fidelity === undefined) return undefined;
  const above = cells.map(({ network }) => network.rateMbps).filter((rate) => rate > fidelity.limitMbps);
  return { ...fidelity, above: distinct(above) };
}

/** Leaving out loads that kept a core busy leaves out the fast ones: the reader must know where. */
function mostlyBusy(rows: readonly LoadRow[]): string {
  const cells = [...Map.groupBy(rows, ({ cell }) => cell)].flatMap(([cell, own]) => {
    const arms = [...Map.groupBy(own, ({ arm }) => arm)].filter(([, loads]) => isMostlyBusy(loads));
    return arms.length === 0 ? [] : [`${cell} (${arms.map(([arm]) => arm).join(", ")})`];
  });
  return cells.length <= 20 ? cells.join("; ") : `${cells.length} cells`;
}
