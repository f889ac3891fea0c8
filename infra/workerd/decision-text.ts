import type { DecisionLine } from "../../policy-api/decision/decide.ts";
import type { ConnectionSeen } from "../../policy-api/decision/facts.ts";
import type { Transport } from "../../policy-api/decision/sample.ts";

/** Reads a line of the worker's log. Undefined if the line is not a decision. */
export function parseDecisionLine(line: string): DecisionLine | undefined {
  if (!line.startsWith('{"event":"decision"')) return undefined;
  try {
    return JSON.parse(line) as DecisionLine;
  } catch {
    return undefined;
  }
}

export const DECISION_HEADINGS = row(
  "client",
  "protocol",
  "RTT",
  "loss TCP / QUIC",
  "decision",
  "reason (by so much an offer is expected to make pages faster; exploration: drawn by lot)",
);

/** Fewer packets than this say little of a loss: those of a small page. */
const PACKETS_MIN = 100;

/** A decision as one line of text that a person reads. */
export function decisionText({ client, httpProtocol, request, history, decision }: DecisionLine): string {
  const { advertise, reason, saving } = decision;
  const { connections = [] } = history;
  const rttMs = decision.rttMs ?? request.rttMs;
  const answer =
    advertise.kind === "h3" ? `offer h3, ${advertise.maS} s` : advertise.kind === "clear" ? "clear" : "say nothing";
  const gain =
    saving === undefined ? "" : ` (${saving.gain > 0 ? "+" : ""}${(100 * Math.expm1(saving.gain)).toFixed(1)} %)`;
  return row(
    client,
    httpProtocol || "?",
    rttMs === undefined ? "-" : `${digits(rttMs)} ms`,
    `${lossText(connections, "tcp")} / ${lossText(connections, "quic")}`,
    answer,
    reason + gain,
  );
}

/** What the client's remembered connections over a transport lost. */
function lossText(connections: readonly ConnectionSeen[], transport: Transport): string {
  const over = connections.filter((one) => one.transport === transport);
  const packets = over.reduce((sum, one) => sum + one.packets, 0);
  const lost = over.reduce((sum, one) => sum + one.lost, 0);
  return packets < PACKETS_MIN ? "-" : `${digits((lost / packets) * 100)} %`;
}

function row(...cells: readonly string[]): string {
  const widths = [8, 10, 10, 17, 19, 0];
  return cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("");
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
