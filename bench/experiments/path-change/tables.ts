import { number, size } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import type { Machine } from "../../model/machine.ts";
import type { Finding, Following } from "./findings.ts";
import { ALL_STRETCHES, APART_MS, FOLLOW_WITHIN, NAVIGATIONS, type Scenario } from "./scenarios.ts";
import type { Settled } from "./settle.ts";

export interface PathChangeSummary {
  readonly command: string;
  readonly day: string;
  readonly seed: number;
  readonly clients: number;
  readonly scenarios: readonly Scenario[];
  readonly machine: Machine;
  readonly findings: readonly Finding[];
}

/** The values of report.md. */
export function pathChangeValues(summary: PathChangeSummary) {
  const { command, day, clients, scenarios, machine, findings } = summary;
  const total = (figure: "failed" | "dropped"): number => findings.reduce((sum, finding) => sum + finding[figure], 0);
  const { kernel, arch, cores, cpu, go, quicGo, workerd, k6, commit } = machine;
  return {
    command,
    day,
    clients,
    navigations: NAVIGATIONS,
    apartS: APART_MS / 1_000,
    scenarios: scenarios.map(({ name, about, imageBytes }) => `${name} is ${about}, ${size(imageBytes)}`).join("; "),
    followedFrom: FOLLOW_WITHIN + 1,
    conclusion: conclusion(findings),
    following: followingTable(findings).trimEnd(),
    answers: answersText(findings),
    loads: loadsTable(findings).trimEnd(),
    failed: total("failed"),
    dropped: total("dropped"),
    machine: { kernel, arch, cores, cpu, go, quicGo, workerd, k6, commit },
  };
}

/** A line for each direction, for the terminal. */
export function summaryLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ scenario, congestion, followings }) =>
    followings.map(
      ({ direction, until, verdict }) =>
        `  ${scenario} ${congestion}, ${direction}: ${verdict} (navigations until settled: ${untilText(until)})`,
    ),
  );
}

function conclusion(findings: readonly Finding[]): string {
  const followings = findings.flatMap((finding) => finding.followings);
  const count = (verdict: Following["verdict"]): number => followings.filter((one) => one.verdict === verdict).length;
  const toFollow = count("followed") + count("not followed");
  const rest = [
    ...(count("nothing to follow") === 0
      ? []
      : [
          `in ${count("nothing to follow")} there was **nothing to follow**, as the settled answers of A and B are equal`,
        ]),
    ...(count("within the margin") === 0
      ? []
      : [
          `in ${count("within the margin")} the saving lies within the policy's margin, where either answer is right and a client keeps the one it has`,
        ]),
    ...(count("never settled") === 0 ? [] : [`in ${count("never settled")} no answer settled`]),
  ];
  return `Of ${followings.length} changes, ${toFollow} asked for another answer: ${count("followed")} were followed within ${FOLLOW_WITHIN} navigations${count("not followed") === 0 ? "" : `, **${count("not followed")} were not**`}${rest.map((text) => `; ${text}`).join("")}.`;
}

function followingTable(findings: readonly Finding[]): string {
  return markdownTable(
    ["scenario", "TCP", "change", "settled before", "settled after", "navigations until", "changes", "verdict"],
    findings.flatMap(({ scenario, congestion, settledA, settledB, followings }) =>
      followings.map(({ direction, until, changes, verdict }) => [
        scenario,
        congestion,
        direction,
        settledText(direction === "A to B" ? settledA : settledB),
        settledText(direction === "A to B" ? settledB : settledA),
        `${worst(until)} (${untilText(until)})`,
        `${Math.max(...changes)} (${changes.join(", ")})`,
        verdict,
      ]),
    ),
  );
}

function settledText({ offers, votes, of }: Settled): string {
  return `${offers === null ? "neither" : offers ? "offer" : "none"}, ${votes} of ${of}`;
}

function worst(until: Following["until"]): string {
  return until.includes(null) ? "never" : `${Math.max(...until.map((count) => count ?? 0))}`;
}

function untilText(until: Following["until"]): string {
  return until.map((count) => count ?? "never").join(", ");
}

function answersText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ scenario, congestion, answers }) =>
    answers.map(
      ({ client, byStretch }) =>
        `${`${scenario} ${congestion} ${client}`.padEnd(14)} ${ALL_STRETCHES.map((stretch) => byStretch[stretch]).join("  ")}`,
    ),
  );
  return lines.join("\n");
}

function loadsTable(findings: readonly Finding[]): string {
  const most = Math.max(...ALL_STRETCHES.map((stretch) => NAVIGATIONS[stretch]));
  const titles = Array.from({ length: most }, (_, i) => ({ title: `${i + 1}`, align: "right" as const }));
  return markdownTable(
    ["scenario", "TCP", "stretch", ...titles],
    findings.flatMap(({ scenario, congestion, loads }) =>
      loads.map(({ stretch, meanLoadMs }) => [
        scenario,
        congestion,
        stretch,
        ...meanLoadMs.map((loadMs) => number(loadMs)),
      ]),
    ),
  );
}
