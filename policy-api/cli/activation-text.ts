import { type ActivationState, INITIAL_ACTIVATION, type KillSwitch, type Stage } from "../decision/activation.ts";
import { type Mode, parsePolicy, type Policy, POLICY_OUTDATED_MS } from "../decision/policy.ts";
import type { Activation, PolicyVersion } from "../api/contract/policies.ts";
import type { Call, Result } from "./command.ts";
import { printable, table } from "./table.ts";
import { count, madeText, percent, timeText, whenText } from "./quantities.ts";
import type { Api } from "./api.ts";
import { EXIT, Failure } from "./failure.ts";

function versionText(version: number): string {
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

/** The stages in their order, and then the others: `5 % of /shop/: version 2`. */
export function whoGetsWhat({ everyone, stages }: Pick<ActivationState, "everyone" | "stages">): readonly string[] {
  return [
    ...stages.map((stage) => `  ${stageText(stage)}: ${versionText(stage.version)}`),
    `  ${stages.length === 0 ? "everyone" : "everyone else"}: ${versionText(everyone)}`,
  ];
}

/** What is in force, since when and by whom. */
export function inForceText(activation: Activation, nowMs: number): string {
  const { revision, killSwitch, author, note, at } = activation;
  return [
    ...killSwitchLines(killSwitch),
    revision === INITIAL_ACTIVATION.revision
      ? "Nobody has activated anything yet."
      : `Revision ${revision} since ${timeText(at)}, ${printable(madeText(author, at, note, nowMs))}`,
    ...whoGetsWhat(activation),
  ].join("\n");
}

/** The last sentence after every change of the activation. */
export const WHEN_OBEYED = `Obeyed everywhere within ${POLICY_OUTDATED_MS / 1000} s, while the store answers.`;

/**
 * A line about offers that outlive a change, because clients who got them get a version that observes; empty without such.
 *
 * @throws Failure
 */
export async function livingOffersText(before: ActivationState, after: ActivationState, api: Api): Promise<string> {
  const next = stagesOf(after);
  const isKept = ({ version, share, pathPrefix }: Stage): boolean =>
    next.some((stage) => stage.version === version && stage.pathPrefix === pathPrefix && stage.share >= share);
  const ended = stagesOf(before).filter((stage) => !isKept(stage));
  if (ended.length === 0 || after.killSwitch !== null) return "";
  const policies = await policiesOf([...ended, ...next], api);
  const withMode = (stages: readonly Stage[], ...modes: readonly Mode[]) =>
    stages
      .flatMap(({ version }) => policies.get(version) ?? [])
      .filter(({ mode, rules }) => [{ mode }, ...rules].some((rule) => modes.includes(rule.mode)));
  const offered = withMode(ended, "adaptive", "fixed-h3").map(({ ma }) => ma.maxS);
  return offered.length === 0 || withMode(next, "observe").length === 0
    ? ""
    : `\nOffers made until now live for up to ${count(Math.max(...offered))} s: \`observe\` takes none back, \`kill clear\` does.`;
}

/** The stages, and everyone as the last one. */
export function stagesOf({ everyone, stages }: Assignment): readonly Stage[] {
  return [...stages, { version: everyone, share: 1 }];
}

/** The policies of stages, by version: those that can be read. @throws Failure */
export async function policiesOf(
  stages: readonly Stage[],
  api: Pick<Api, "version">,
): Promise<ReadonlyMap<number, Policy>> {
  const policies = new Map<number, Policy>();
  for (const version of new Set(stages.map((stage) => stage.version))) {
    const read = parsePolicy((await api.version(version)).policy);
    if (read.ok) policies.set(version, read.value);
  }
  return policies;
}

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

/** Versions of the policy, and for whom each is in force. */
export function versionTable(
  versions: readonly PolicyVersion[],
  activation: Activation,
  nowMs: number,
  columns: number,
): string {
  if (versions.length === 0) return "Nobody has pushed a policy yet: version 0, the initial one, observes.";
  return table(
    ["version", "in force", "mode", "author", "created", "note"],
    versions.map(({ version, mode, author, createdAt, note }) => [
      version,
      inForceFor(version, activation),
      mode ?? "unreadable",
      author,
      whenText(createdAt, nowMs),
      note,
    ]),
    columns,
  );
}

function inForceFor(version: number, { everyone, stages }: Activation): string {
  return [
    ...(version === everyone ? ["everyone"] : []),
    ...stages.filter((stage) => stage.version === version).map(stageText),
  ].join(", ");
}

/**
 * Makes a change of the activation that was read before. If somebody else was faster, the failure says who, and what is in
 * force now, so that a person can decide again.
 *
 * @throws Failure
 */
export async function unlessChanged<T>(api: Api, io: Call["io"], change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.changed) throw error;
    const { activation } = await api.activation();
    const { revision, everyone, killSwitch } = activation;
    throw new Failure(
      EXIT.changed,
      `${activation.author} changed the activation meanwhile: nothing of yours was done.`,
      {
        ...error.details,
        detail: `In force now:\n${inForceText(activation, io.nowMs())}`,
        inForce: { revision, everyone, killSwitch },
      },
    );
  }
}

/** A version, and for whom. */
export interface Rollout {
  readonly version: number;
  /** 0 to 1. */
  readonly share?: number | undefined;
  readonly pathPrefix?: string | undefined;
}

export type Assignment = Pick<Activation, "everyone" | "stages">;

/**
 * What a rollout makes of an activation. Pure.
 *
 * Without a share and a path the version is for everyone, and all stages end. Otherwise the version gets a stage: it replaces
 * the stage of the same path, or is added. A share of 1 without a path is everyone too, but the stages of paths stay. A share
 * of 0 ends the stage.
 */
export function rolledOut({ everyone, stages }: Assignment, { version, share, pathPrefix }: Rollout): Assignment {
  if (share === undefined && pathPrefix === undefined) return { everyone: version, stages: [] };
  const others = stages.filter((stage) => stage.pathPrefix !== pathPrefix);
  if (share === 0) return { everyone, stages: inOrder(others) };
  if (pathPrefix === undefined && share === 1) return { everyone: version, stages: inOrder(others) };
  const stage: Stage = { version, share: share ?? 1, ...(pathPrefix === undefined ? {} : { pathPrefix }) };
  return { everyone, stages: inOrder([...others, stage]) };
}

/** Whether every client gets the version at once. Then a person must say yes first. */
export function isForEveryone({ share, pathPrefix }: Rollout): boolean {
  return (share ?? 1) === 1 && (pathPrefix === undefined || pathPrefix === "/");
}

/** Longer paths first, as the first stage that matches counts. */
function inOrder(stages: readonly Stage[]): Stage[] {
  const length = (stage: Stage): number => stage.pathPrefix?.length ?? 0;
  return [...stages].sort((a, b) => length(b) - length(a));
}
