import type { Machine } from "../../model/machine.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import { OBJECT_BYTES, type Setting } from "./settings.ts";
import type { Finding } from "./verdict.ts";

export interface CrossCheckReport {
  readonly command: string;
  /** How late the second client acknowledged; null: as aioquic does. */
  readonly theirAckDelayMs: number | null;
  readonly settings: readonly Setting[];
  readonly findings: readonly Finding[];
  readonly machine: Machine;
  readonly python: Readonly<Record<string, string | null>>;
}

/** The values of report.md. */
export function crossCheckValues(summary: CrossCheckReport) {
  const { command, theirAckDelayMs, settings, findings, machine, python } = summary;
  return {
    command,
    size: OBJECT_BYTES / 1e6,
    versions: {
      quicGo: machine.quicGo,
      go: machine.go,
      aioquic: python["aioquic"] ?? "-",
      h2: python["h2"] ?? "-",
      python: python["python"] ?? "-",
      openssl: python["openssl"] ?? "-",
    },
    acks: theirAckDelayMs === null ? "" : String(theirAckDelayMs),
    findings: findingsTable(findings),
    sentences: findings.map(sentence).join("\n"),
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

function findingsTable(findings: readonly Finding[]): string {
  return table(
    ["network", "protocol", "loads", "ours", "theirs", "ratio", "theirs within ours", "verdict"],
    findings.map(({ setting, protocol, ours, theirs, ratio, withinOurs, verdict }) => [
      setting,
      protocol,
      `${ours.n} / ${theirs.n}`,
      interval(ours.meanMs, 0),
      interval(theirs.meanMs, 0),
      interval(ratio, 3),
      withinOurs ? "yes" : "no",
      verdict,
    ]),
  );
}

function partsTable(findings: readonly Finding[]): string {
  return table(
    [
      "network",
      "protocol",
      "median, ms",
      "sd / mean",
      "handshake, ms",
      "request, ms",
      "body, ms",
      "client CPU, ms",
      "packets up",
      "packets down",
      "dropped",
      "failed",
    ],
    findings.map(({ setting, protocol, ours, theirs }) => [
      setting,
      protocol,
      pair(ours.medianMs, theirs.medianMs, 0),
      pair(ours.cv, theirs.cv, 2),
      pair(ours.handshakeMs, theirs.handshakeMs, 1),
      pair(ours.requestMs, theirs.requestMs, 1),
      pair(ours.bodyMs, theirs.bodyMs, 1),
      pair(ours.clientCpuMs, theirs.clientCpuMs, 0),
      pair(ours.packetsUp, theirs.packetsUp, 0),
      pair(ours.packetsDown, theirs.packetsDown, 0),
      pair(ours.dropped, theirs.dropped, 0),
      pair(ours.failed, theirs.failed, 0),
    ]),
  );
}

/** A line for the terminal. */
export function summaryLine({ setting, protocol, ours, theirs, ratio, verdict }: Finding): string {
  const figures = `${ours.meanMs.estimate.toFixed(0)} ms ours, ${theirs.meanMs.estimate.toFixed(0)} ms theirs`;
  return `  ${setting} ${protocol}: ${figures}, ratio ${interval(ratio, 3)}: ${verdict}`;
}

function sentence({ setting, protocol, ours, theirs, ratio, withinOurs, verdict }: Finding): string {
  const percent = `${Math.abs((ratio.estimate - 1) * 100).toFixed(1)} %`;
  const apart = `theirs takes ${percent} ${ratio.estimate < 1 ? "less" : "more"}`;
  const more = (part: "handshakeMs" | "requestMs" | "bodyMs"): string => {
    const ms = theirs[part] - ours[part];
    return `${ms < 0 ? "" : "+"}${ms.toFixed(1)} ms`;
  };
  const where = `handshake ${more("handshakeMs")}, request ${more("requestMs")}, body ${more("bodyMs")}`;
  if (verdict === "short") return `- ${setting}, ${protocol}: too few loads count to say anything.`;
  return `- ${setting}, ${protocol}: ${apart}; ${ground(ratio, verdict)}${withinOurs ? "" : `; outside the interval of ours: ${where}`}.`;
}

/** On what ground they agree; not that they are equal: the interval says how far apart they may be. */
function ground({ low, high }: Interval, verdict: Finding["verdict"]): string {
  if (verdict === "differs") return "neither does the interval hold 1, nor is that within 5 %";
  return low <= 1 && high >= 1 ? "the interval holds 1" : "the interval does not hold 1, but that is within 5 %";
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function interval({ estimate, low, high }: Interval, digits: number): string {
  return Number.isFinite(estimate)
    ? `${estimate.toFixed(digits)} (${low.toFixed(digits)} to ${Number.isFinite(high) ? high.toFixed(digits) : "any"})`
    : "-";
}

function pair(ours: number, theirs: number, digits: number): string {
  return [ours, theirs].map((value) => (Number.isFinite(value) ? value.toFixed(digits) : "-")).join(" / ");
}
