import type { Machine } from "../../model/machine.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { OBJECT_BYTES, type Setting } from "./settings.ts";
import type { Finding, Sample } from "./verdict.ts";

export interface CrossCheckReport {
  readonly command: string;
  /** How late the second client acknowledged; null: as aioquic does. */
  readonly theirAckDelayMs: number | null;
  readonly settings: readonly Setting[];
  readonly findings: readonly Finding[];
  readonly machine: Machine;
  /** Of the second client: what it is made of. */
  readonly python: Readonly<Record<string, string>>;
}

/** The values of report.md. */
export function crossCheckValues(summary: CrossCheckReport) {
  const { command, theirAckDelayMs, settings, findings, machine, python } = summary;
  return {
    command,
    size: OBJECT_BYTES / 1e6,
    versions: { quicGo: machine.quicGo, go: machine.go, ...python },
    acks: theirAckDelayMs === null ? "" : String(theirAckDelayMs),
    findings: findingsTable(findings),
    parts: partsTable(findings),
    networks: settings
      .map(
        ({ network: { name, rateMbps, delayMs, lossRatio } }) =>
          `${name} ${rateMbps} Mbit/s, ${delayMs} ms one way${lossRatio > 0 ? `, ${lossRatio * 100} % loss of the data` : ""}`,
      )
      .join("; "),
    machine: { cpu: machine.cpu, cores: machine.cores, kernel: machine.kernel, commit: machine.commit },
  };
}

export function findingsTable(findings: readonly Finding[]): string {
  return tableOf(findings, [
    ["network", ({ setting }) => setting],
    ["protocol", ({ protocol }) => protocol],
    ["loads", ({ ours, theirs }) => `${ours.n} / ${theirs.n}`],
    ["ours", ({ ours }) => interval(ours.meanMs, 0)],
    ["theirs", ({ theirs }) => interval(theirs.meanMs, 0)],
    ["ratio", ({ ratio }) => interval(ratio, 3)],
    ["verdict", ({ verdict }) => verdict],
  ]);
}

function partsTable(findings: readonly Finding[]): string {
  const pair = (title: string, field: Exclude<keyof Sample, "meanMs">, digits: number): Column<Finding> => [
    title,
    ({ ours, theirs }) => `${fixed(ours[field], digits)} / ${fixed(theirs[field], digits)}`,
  ];
  return tableOf(findings, [
    ["network", ({ setting }) => setting],
    ["protocol", ({ protocol }) => protocol],
    pair("median, ms", "medianMs", 0),
    pair("sd / mean", "cv", 2),
    pair("handshake, ms", "handshakeMs", 1),
    pair("request, ms", "requestMs", 1),
    pair("body, ms", "bodyMs", 1),
    pair("client CPU, ms", "clientCpuMs", 0),
    pair("packets up", "packetsUp", 0),
    pair("packets down", "packetsDown", 0),
    pair("dropped", "dropped", 0),
    pair("failed", "failed", 0),
  ]);
}

function interval({ estimate, low, high }: Interval, digits: number): string {
  if (!Number.isFinite(estimate)) return "-";
  return `${fixed(estimate, digits)} (${fixed(low, digits)} to ${Number.isFinite(high) ? fixed(high, digits) : "any"})`;
}

function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "-";
}
