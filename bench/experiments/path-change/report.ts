import { size } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Machine } from "../../model/machine.ts";
import type { Finding, Verdict } from "./findings.ts";
import { APART_MS, FOLLOW_WITHIN, NAVIGATIONS, type Scenario } from "./scenarios.ts";
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
