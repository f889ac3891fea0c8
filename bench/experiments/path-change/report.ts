import { size } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import type { Recorded } from "../../harness/experiment.ts";
import { lastDay, lastMachine } from "../../harness/machine-text.ts";
import { policyOf } from "../../lab/arm-policy.ts";
import { type Finding, findingOf, type Verdict } from "./findings.ts";
import { dependsOnAnswerBefore } from "./margin.ts";
import type { NavigationRow } from "./row.ts";
import { APART_MS, type Chosen, FOLLOW_WITHIN, NAVIGATIONS } from "./scenarios.ts";
import type { Settled } from "./settle.ts";

export type PathChangeSummary = ReturnType<typeof pathChangeSummary>;

/** @param rows all that were measured: of a visit that was cut short and made again the last counts */
export function pathChangeSummary(
  { rows: all, command, starts }: Pick<Recorded<unknown, NavigationRow>, "rows" | "command" | "starts">,
  { scenarios, congestions, clients }: Chosen,
  seed: number,
) {
  const rows = lastOfEach(all);
  const findings = scenarios.flatMap(({ name }) =>
    congestions.map((congestion) =>
      findingOf(
        name,
        congestion,
        rows.filter((row) => row.scenario === name && row.congestion === congestion),
        (row) => dependsOnAnswerBefore(policyOf("adaptive", congestion, "quic-go") as Policy, row),
      ),
    ),
  );
  return { command, day: lastDay(rows), seed, clients, scenarios, machine: lastMachine(starts), findings };
}

export function lastOfEach(rows: readonly NavigationRow[]): NavigationRow[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** The values of report.md. */
export function pathChangeValues({ command, day, clients, scenarios, machine, findings }: PathChangeSummary) {
  const { kernel, arch, cores, cpu, memoryGiB, go, quicGo, workerd, k6, node, commit } = machine;
  const verdicts = findings.flatMap(({ followings }) => followings.map(({ verdict }) => verdict));
  const count = (verdict: Verdict): number => verdicts.filter((one) => one === verdict).length;
  return {
    command,
    day,
    clients,
    navigations: NAVIGATIONS,
    apartS: APART_MS / 1_000,
    scenarios: scenarios.map(({ name, about, imageBytes }) => `${name} is ${about}, ${size(imageBytes)}`).join("; "),
    followWithin: FOLLOW_WITHIN,
    changes: {
      all: verdicts.length,
      followed: count("followed"),
      missed: count("not followed"),
      equal: count("nothing to follow"),
      either: count("within the margin"),
      open: count("never settled"),
    },
    following: followingTable(findings),
    answers: answersText(findings),
    failed: findings.reduce((sum, { failed }) => sum + failed, 0),
    machine: { kernel, arch, cores, cpu, memoryGiB, go, quicGo, workerd, k6, node, commit },
  };
}

export function followingTable(findings: readonly Finding[]): string {
  const followings = findings.flatMap(({ followings: own, ...finding }) =>
    own.map((following) => ({ ...finding, ...following, isThere: following.direction === "A to B" })),
  );
  return tableOf(followings, [
    ["scenario", ({ scenario }) => scenario],
    ["TCP", ({ congestion }) => congestion],
    ["change", ({ direction }) => direction],
    ["settled before", ({ isThere, settledA, settledB }) => settledText(isThere ? settledA : settledB)],
    ["settled after", ({ isThere, settledA, settledB }) => settledText(isThere ? settledB : settledA)],
    ["navigations until", ({ until }) => until.map((count) => count ?? "never").join(", ")],
    ["changes", ({ changes }) => changes.join(", ")],
    ["verdict", ({ verdict }) => verdict],
  ]);
}

function settledText({ offers, votes, of }: Settled): string {
  return `${offers === null ? "neither" : offers ? "offer" : "none"}, ${votes} of ${of}`;
}

function answersText(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ scenario, congestion, answers }) =>
    answers.map(
      ({ client, stretches }) => `${`${scenario} ${congestion} ${client}`.padEnd(14)} ${stretches.join("  ")}`,
    ),
  );
  return lines.join("\n");
}
