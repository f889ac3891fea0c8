import type { Activation } from "../api/contract/policies.ts";
import { type Cause, isSameState, type Stage } from "../decision/activation.ts";
import type { Policy } from "../decision/policy.ts";
import { EMPTY_GAINS } from "../visitors/empty-table.ts";
import { begunAnew } from "../visitors/propose.ts";
import type { Api } from "./api.ts";
import { fromServer, readable } from "./named-policy.ts";
import { inForceText, unlessChanged } from "./activation-text.ts";
import type { Command } from "./command.ts";

/** The shares of clients that a proposal gets one after another, before everyone. */
const SHARES = [0.05, 0.25] as const;
/** How long each of them stays: what a visit teaches on a weekday is not all of it. */
const STAGE_MS = 86_400_000;
/** No proposal is tried for so long after something was taken back, or after a person changed what the autopilot did. */
const REST_MS = 7 * 86_400_000;
/** No version is begun anew for so long after another one was. */
const ANEW_MS = 14 * 86_400_000;
/** The least that a proposal has to save, at the low end of its interval: ln(time now / time with it), over new clients' visits. */
const GAIN_MIN = 0.001;
/** Said of a version. Then it is no proof of no harm that nothing speaks against it. */
const NOT_COMPARED = "Where it offers HTTP/3, its visitors cannot be compared";
/** How many activations are looked back at. The API gives no more at a time. */
const LOOKED_BACK = 100;
/** How many earlier versions are asked whether they harm, too. */
const EARLIER_ASKED = 5;

/** A change; or why nothing is done, as the end of a sentence. */
type Step = Change | string;

interface Change {
  readonly cause: Cause;
  /** As the end of a sentence: the autopilot ... */
  readonly why: string;
  readonly everyone: number;
  readonly stages: readonly Stage[];
}

interface Earlier {
  readonly version: number;
  readonly isCompared: boolean;
}

type Calls = Pick<Api, "results" | "proposal" | "push" | "history" | "version">;

/** Finds what is to be done. It stores a version if it proposes one, and activates nothing. @throws Failure */
async function nextStep(api: Calls, activation: Activation, nowMs: number): Promise<Step> {
  const { everyone: version, stages, killSwitch } = activation;
  if (killSwitch !== null) return "the kill switch is on";
  const { activations } = await api.history({ limit: LOOKED_BACK });
  const own = activations.filter(isOwn);
  // A kill switch that was on meanwhile, or a rollback, leaves a revision that somebody else made.
  const begun = own.find((one) => isSameState(one, activation));
  const [trial] = stages;
  const isOurs = trial !== undefined && begun !== undefined;

  const { harm, change } = await api.results(version);
  // It puts nothing in force that it has taken back.
  const isPutBack = isTakenBack(own, version);
  if (harm !== null && !isPutBack) {
    const before = await harmless(api, activations, version);
    const takesBack = `takes back version ${version}. ${harm.text}`;
    const left = isOurs ? [] : stages;
    const cause = { step: "takes-back", version } as const;
    if (before === undefined)
      return activates(cause, `${takesBack} Everyone gets an empty gain table`, await emptied(api, version), left);
    const unsure = before.isCompared ? "" : ` Everyone gets version ${before.version}. ${NOT_COMPARED}`;
    return activates(cause, takesBack + unsure, before.version, left);
  }
  if (isOurs && change !== null)
    return activates(
      { step: "ends-trial", version: trial.version },
      `ends the trial of version ${trial.version}, as HTTP/3's effect is another one since ${dayOf(change)}`,
      version,
    );
  if (trial !== undefined)
    return isOurs
      ? ofTrial(api, version, trial, nowMs - Date.parse(begun.at))
      : "stages are in force that the autopilot did not make";
  if (harm !== null) return `version ${version} harms, but somebody has put it in force again after it was taken back`;
  const restsSince = activations.find((one, i) => isTakeBack(one) || (!isOwn(one) && activations.slice(i).some(isOwn)));
  if (restsSince !== undefined && nowMs - Date.parse(restsSince.at) < REST_MS)
    return isOwn(restsSince)
      ? "something was taken back within the last week"
      : "somebody changed what it did within the last week";
  if (change !== null) return beginAnew(api, version, dayOf(change), own, nowMs);
  return propose(api, version, new Set(own.flatMap((one) => one.stages.map((stage) => stage.version))));
}

async function ofTrial(api: Calls, everyone: number, { version, share }: Stage, ageMs: number): Promise<Step> {
  const { harm, harmComparable, grounds, objects } = await api.results(version);
  if (harm !== null)
    return activates({ step: "takes-back", version }, `takes back version ${version}. ${harm.text}`, everyone);
  const objection = grounds.objections.find(({ kind }) => kind !== "too-few-new-clients");
  if (objection !== undefined) return `version ${version} cannot be judged. ${unstopped(objection.text)}`;
  if (objects.answered < objects.asked) return "not every object of the store answers";
  if (ageMs < STAGE_MS) return `version ${version} has not been tried for a day yet`;
  const cause = { step: "widens", version } as const;
  const next = SHARES.find((one) => one > share);
  if (next === undefined)
    return harmComparable
      ? activates(cause, `gives version ${version} to everyone`, version)
      : `version ${version} does not go to everyone. ${NOT_COMPARED}`;
  const gives = `gives version ${version} to ${next * 100} % of the clients`;
  // A comparison takes five times as many visitors at 5 % as at 25 %: a small site waits for it there.
  return activates(cause, harmComparable ? gives : `${gives}. ${NOT_COMPARED}`, everyone, [{ version, share: next }]);
}

/** The same policy as a new version, so that its results are of what is so now. No visitor gets another answer by that. */
async function beginAnew(
  api: Calls,
  version: number,
  day: string,
  own: readonly Activation[],
  nowMs: number,
): Promise<Step> {
  const begun = own.filter(({ cause }) => cause?.step === "begins-anew");
  if (begun.some(({ cause }) => cause?.version === version))
    return `version ${version} was begun anew before, and somebody has put it in force again`;
  if (begun.some(({ at }) => nowMs - Date.parse(at) < ANEW_MS))
    return "a version was begun anew within the last two weeks";
  const why = `begins version ${version} anew, as HTTP/3's effect is another one since ${day}`;
  const anew = begunAnew(await policyOf(api, version), version, day);
  const pushed = await api.push(anew, `autopilot ${why}`);
  return activates({ step: "begins-anew", version }, why, pushed.version);
}

/** The policy of a version with an empty gain table: it offers to drawn clients alone, and learns from them. Its number. */
async function emptied(api: Calls, version: number): Promise<number> {
  const { method: _, provenance: __, ...policy } = await policyOf(api, version);
  const source = `Version ${version} with an empty gain table, as it harmed visitors`;
  const note = `autopilot empties the gain table of version ${version}, which harms visitors`;
  return (await api.push({ ...policy, source, method: EMPTY_GAINS }, note)).version;
}

async function policyOf(api: Calls, version: number): Promise<Policy> {
  return fromServer(readable(await api.version(version)).policy, `version ${version}`);
}

function dayOf({ since }: { readonly since: string }): string {
  return since.slice(0, 10);
}

async function propose(api: Calls, version: number, tried: ReadonlySet<number>): Promise<Step> {
  const proposal = await api.proposal(version);
  if (proposal.kind !== "proposed") return `nothing is proposed. ${unstopped(proposal.why)}`;
  const { gain, turned, policy, objects } = proposal;
  if (objects.answered < objects.asked) return "not every object of the store answers";
  if (turned.length === 0 || gain.low < GAIN_MIN) return "no other policy is known to save time";
  const saves = ((1 - Math.exp(-gain.value)) * 100).toFixed(1);
  const taught = `what version ${version}'s visitors taught: it should save ${saves} % of new clients' time`;
  const pushed = await api.push(fromServer(policy, "the proposal"), `autopilot proposes ${taught}`);
  // The same evidence makes the same policy, and the store knows it again.
  if (tried.has(pushed.version)) return `version ${pushed.version}, which is proposed, was tried before`;
  const cause = { step: "tries", version: pushed.version } as const;
  return activates(cause, `tries ${taught}`, version, [{ version: pushed.version, share: SHARES[0] }]);
}

/**
 * The last version before this one that everyone had, and which nobody speaks against: one whose visitors can be compared, else
 * any. Version 0 is none: it draws no arms.
 */
async function harmless(api: Calls, activations: readonly Activation[], version: number): Promise<Earlier | undefined> {
  const own = activations.filter(isOwn);
  const earlier = new Set(activations.map(({ everyone }) => everyone));
  let silent: Earlier | undefined;
  for (const one of [...earlier]
    .filter((known) => known !== version && known !== 0 && !isTakenBack(own, known))
    .slice(0, EARLIER_ASKED)) {
    const { policy } = await api.version(one);
    // A policy that offers HTTP/3 to everyone draws no arms: nothing would speak against it.
    if (policy === null || policy.mode === "fixed-h3") continue;
    const { harm, harmComparable, change } = await api.results(one);
    // What was so before a change says nothing of what is so now.
    if (harm !== null || change !== null) continue;
    // Nor does anything speak where a rule offers it to everyone.
    const isCompared = harmComparable && policy.rules.every(({ mode }) => mode !== "fixed-h3");
    if (isCompared) return { version: one, isCompared };
    silent ??= { version: one, isCompared };
  }
  return silent;
}

function isOwn({ cause }: Activation): boolean {
  return cause !== null;
}

function isTakeBack({ cause }: Activation): boolean {
  return cause?.step === "takes-back";
}

function isTakenBack(own: readonly Activation[], version: number): boolean {
  return own.some((one) => isTakeBack(one) && one.cause?.version === version);
}

function unstopped(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function activates(cause: Cause, why: string, everyone: number, stages: readonly Stage[] = []): Change {
  return { cause, why, everyone, stages };
}

export const AUTOPILOT: Command = {
  name: "autopilot",
  usage: "",
  summary: "One step by what visitors' pages reported: take back what harms, try what helps.",
  details: `Makes one step at most. Run it every ten minutes, with a token of the scope autopilot:

  - If the version in force harms visitors, everyone gets an earlier one that does not, or an empty gain table.
  - If it knows of a policy that saves time, it stores that, and gives it to 5 % of the clients; a day later to 25 %, another day
later to everyone, once enough of its visitors can be compared. If it harms, all get the old one again.
  - If HTTP/3's effect on pages has changed, it begins the version anew: the same policy, with results of its own.

It does nothing while the kill switch is on. Stages that somebody else made stay. It tries no
version twice, and nothing for a week after it took something back or somebody changed what it
did. If somebody changes the activation meanwhile, nothing is done (exit code 4). \`history\` shows
what it did as \`cause\`. It knows its own changes by that, which no token of another scope can give.`,
  async run({ io, api: connected }) {
    const api = await connected();
    const { activation, etag } = await api.activation();
    const step = await nextStep(api, activation, io.nowMs());
    if (typeof step === "string") return { json: { kind: "waits", why: step }, text: `Nothing to do: ${step}.` };
    const { everyone, stages, why, cause } = step;
    const change = { everyone, stages: [...stages], note: `autopilot ${why}`, cause };
    const now = await unlessChanged(api, io, async () => api.activate(change, etag));
    return {
      json: { kind: "activates", ...step, activation: now },
      text: `Done: it ${why.replace(/\.$/, "")}.\n\n${inForceText(now, io.nowMs())}`,
    };
  },
};
