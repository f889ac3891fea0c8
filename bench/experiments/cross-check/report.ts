import type { Machine } from "../../model/machine.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import type { PythonVersions } from "./python.ts";
import { OBJECT_BYTES, type Setting } from "./settings.ts";
import type { Finding } from "./verdict.ts";

export interface CrossCheckReport {
  readonly command: string;
  /** How late the second client acknowledged; null: as aioquic does. */
  readonly theirAckDelayMs: number | null;
  readonly settings: readonly Setting[];
  readonly findings: readonly Finding[];
  readonly machine: Machine;
  readonly python: PythonVersions;
}

/** The report of a cross-check, Markdown. */
export function reportText({
  command,
  theirAckDelayMs,
  settings,
  findings,
  machine,
  python,
}: CrossCheckReport): string {
  return `# Cross-check: a second, independent client

\`${command}\`

Two clients that share no code load ${OBJECT_BYTES / 1e6} MB from the same edge over the same emulated path: ours (k6 with
quic-go ${machine.quicGo} and Go's HTTP/2, ${machine.go}) and theirs (aioquic ${python.aioquic} and h2 ${python.h2}, Python ${python.python},
${python.openssl}). Each load is a new process, a new connection and a new client address; a small page over a
connection of its own goes before it, untimed. Times run from before the connection's opening to the last byte of the
body. The clients take turns in random order. All loads are in rows.csv, those that do not count with the reason.${acks(theirAckDelayMs)}

Times are means in ms with 95 % intervals (studentised bootstrap); the ratio is theirs / ours. "Agrees": the ratio's
interval holds 1, or the ratio is within 5 % of 1.

${table(
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
)}

${findings.map(sentence).join("\n")}

What each load took, ours / theirs (means; packets are those of the path, acknowledgements and the untimed page included):

${table(
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
)}

Networks: ${settings
    .map(
      ({ network: { name, rateMbps, delayMs, lossRatio } }) =>
        `${name} ${rateMbps} Mbit/s, ${delayMs} ms one way${lossRatio > 0 ? `, ${lossRatio * 100} % loss of the data` : ""}`,
    )
    .join("; ")}. The server's TCP is cubic.

Flow control windows, so that none holds the object back: h2 4 MB a stream in both; h3 6 MB a stream and 15 MB a
connection in theirs, in ours quic-go's own (512 kB, growing to the same).

Dropped: a core was over 85 % busy during the load, or over 1 % of the packets left the path over 1 ms late; measured
by the driver for both clients alike, and made up for by further loads.

Why theirs may take some ms more over HTTP/3, and how that was found: bench/experiments/cross-check/README.md.

Machine: ${machine.cpu}, ${machine.cores} cores, Linux ${machine.kernel}; commit ${machine.commit}.
`;
}

function acks(delayMs: number | null): string {
  return delayMs === null
    ? ""
    : `\n\nIn this run theirs acknowledges QUIC packets after ${delayMs} ms, not as aioquic does.`;
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
