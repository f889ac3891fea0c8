import type { DecisionLine } from "../../policy-api/decision/decide.ts";

/** Reads a line of the worker's log. Undefined if the line is not a decision. */
export function parseDecisionLine(line: string): DecisionLine | undefined {
  if (!line.startsWith('{"event":"decision"')) return undefined;
  try {
    return JSON.parse(line) as DecisionLine;
  } catch {
    return undefined;
  }
}

export const DECISION_HEADINGS = row("client", "protocol", "RTT", "its loss", "decision", "reason");

/** A decision as one line of text that a person reads. */
export function decisionText({ client, httpProtocol, request, decision }: DecisionLine): string {
  const { advertise, reason, lossRatio, saving } = decision;
  const rttMs = decision.rttMs ?? request.rttMs;
  const answer =
    advertise.kind === "h3" ? `offer h3, ${advertise.maS} s` : advertise.kind === "clear" ? "clear" : "say nothing";
  const gain =
    saving === undefined ? "" : ` (${saving.gain > 0 ? "+" : ""}${(100 * Math.expm1(saving.gain)).toFixed(1)} %)`;
  return row(
    client,
    httpProtocol || "?",
    rttMs === undefined ? "-" : `${digits(rttMs)} ms`,
    lossRatio === undefined ? "-" : `${digits(lossRatio * 100)} %`,
    answer,
    reason + gain,
  );
}

function row(...cells: readonly string[]): string {
  const widths = [8, 10, 10, 15, 19, 0];
  return cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("");
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
