import type { DecisionLine } from "../../policy-api/core/decision-line.ts";

/** Reads a line of the worker's log. Undefined if the line is not a decision. */
export function parseDecisionLine(line: string): DecisionLine | undefined {
  if (!line.startsWith('{"event":"decision"')) return undefined;
  try {
    return JSON.parse(line) as DecisionLine;
  } catch {
    return undefined;
  }
}

export const DECISION_HEADINGS = row("client", "protocol", "RTT", "loss", "rate", "decision", "reason");

/** A decision as one line of text that a person reads. */
export function decisionText({ client, httpProtocol, request, decision }: DecisionLine): string {
  const { advertise, reason, basis, path, predicted } = decision;
  const rttMs = path?.rttMs ?? request.rttMs;
  const rateBps = path?.deliveryRateBps ?? request.deliveryRateBps;
  const told =
    advertise.kind === "h3" ? `offer h3, ${advertise.maS} s` : advertise.kind === "clear" ? "clear" : "say nothing";
  const times =
    predicted === undefined
      ? ""
      : ` (${basis}; stay ${time(predicted.stayMs)}, switch ${time(predicted.switchMs)}, cold ${time(predicted.coldMs)})`;
  return row(
    client,
    httpProtocol || "?",
    rttMs === undefined ? "-" : `${digits(rttMs)} ms`,
    path === undefined ? "-" : `${digits(path.lossRatio * 100)} %`,
    rateBps === undefined ? "-" : `${digits((rateBps * 8) / 1e6)} Mbit/s`,
    told,
    reason + times,
  );
}

function row(...cells: readonly string[]): string {
  const widths = [8, 10, 10, 9, 15, 17, 0];
  return cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("");
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function time(ms: number): string {
  return ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(0)} ms`;
}
