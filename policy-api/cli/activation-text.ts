import { type ActivationState, INITIAL_ACTIVATION, type KillSwitch, type Stage } from "../decision/activation.ts";
import { POLICY_OUTDATED_MS } from "../decision/policy.ts";
import type { Activation } from "../api/contract/activation.ts";
import type { Result } from "./command.ts";
import { printable } from "./printable.ts";
import { percent } from "./quantities.ts";
import { table } from "./table.ts";
import { madeText, timeText } from "./time-text.ts";

export function versionText(version: number): string {
  return version === INITIAL_ACTIVATION.everyone ? "version 0 (initial: observe)" : `version ${version}`;
}

/** The clients of a stage: `5 % of /shop/` */
export function stageText({ share, pathPrefix }: Stage): string {
  return pathPrefix === undefined ? percent(share) : share === 1 ? pathPrefix : `${percent(share)} of ${pathPrefix}`;
}

/** All stages in one cell: `v4: 5 % of /shop/; v5: 10 %` */
export function stagesText(stages: readonly Stage[]): string {
  return stages.map((stage) => `v${stage.version}: ${stageText(stage)}`).join("; ");
}

/** Who gets what now, and after a change. */
export function beforeAfterText(before: ActivationState, after: ActivationState, columns: number): string {
  const names = [...new Set([...after.stages, ...before.stages].map(stageName))];
  return table(
    ["", "now", "after"],
    [
      ...names.map((name) => [name, stageCell(before, name), stageCell(after, name)]),
      [names.length === 0 ? "everyone" : "everyone else", versionText(before.everyone), versionText(after.everyone)],
      ["kill switch", before.killSwitch ?? "off", after.killSwitch ?? "off"],
    ],
    columns,
  );
}

function stageName({ pathPrefix }: Stage): string {
  return pathPrefix === undefined ? "a share" : `on ${pathPrefix}`;
}

function stageCell({ stages }: ActivationState, name: string): string {
  const held = stages.filter((stage) => stageName(stage) === name);
  return held.map(({ version, share }) => `${versionText(version)}: ${percent(share)}`).join("; ");
}

/** What is in force, since when and by whom. */
export function inForceText(activation: Activation, nowMs: number): string {
  const { revision, everyone, stages, killSwitch, author, note, at } = activation;
  const lines = [
    ...killSwitchLines(killSwitch),
    revision === INITIAL_ACTIVATION.revision
      ? "Nobody has activated anything yet."
      : `Revision ${revision} since ${timeText(at)}, ${printable(madeText(author, at, note, nowMs))}`,
    ...stages.map((stage) => `  ${stageText(stage)}: ${versionText(stage.version)}`),
    `  ${stages.length === 0 ? "everyone" : "everyone else"}: ${versionText(everyone)}`,
  ];
  return lines.join("\n");
}

/** The last sentence after every change of the activation. */
export const WHEN_OBEYED = `Obeyed everywhere within ${POLICY_OUTDATED_MS / 1000} s, while the store answers.`;

/** What the kill switch does. */
export const KILL_SWITCH_MEANS: Readonly<Record<KillSwitch, string>> = {
  "fixed-h2": "HTTP/3 is offered to nobody, and taken back where it may be held",
  clear: "every page takes HTTP/3 back (clear)",
};

/** Warns that the policy has no effect while the kill switch is on. */
export function killSwitchLines(kind: KillSwitch | null): readonly string[] {
  if (kind === null) return [];
  const what = `${KILL_SWITCH_MEANS[kind]}, whatever the policy says.`;
  return [`*** THE KILL SWITCH IS ON (${kind}): \`kill off\` ends it. ***`, what, ""];
}

/** The result of a change. */
export function changed(before: Activation | undefined, after: Activation, text: string): Result {
  return { json: { changed: true, before, after }, text };
}

/** The result of a change that would change nothing. */
export function unchanged(sentence: string, activation: Activation, nowMs: number): Result {
  return {
    json: { changed: false, before: activation, after: activation },
    text: `${sentence}\n\n${inForceText(activation, nowMs)}`,
  };
}
