import type { Activation } from "../contract/activation.ts";
import { isSameState, type Stage } from "../core/activation.ts";
import { begunAnew } from "../outcomes/propose.ts";
import type { Api } from "./api.ts";
import { fromServer } from "./named-policy.ts";

/** What the autopilot's notes begin with: it knows its own changes by it. */
export const NOTE_PREFIX = "autopilot ";

/** The shares of clients that a proposal gets one after another, before everyone. */
const SHARES = [0.05, 0.25] as const;
/** How long each of them stays: what a visit teaches on a weekday is not all of it. */
const STAGE_MS = 86_400_000;
/** No proposal is tried for so long after something was taken back, or after a person changed what the autopilot did. */
const REST_MS = 7 * 86_400_000;
/** The least that a proposal has to save, at the low end of its interval: ln(time now / time with it), over new clients' visits. */
const GAIN_MIN = 0.001;
/** How many activations are looked back at. The API gives no more at a time. */
const LOOKED_BACK = 100;
/** How many earlier versions are asked whether they harm, too. */
const EARLIER_ASKED = 5;

export type Step =
  | { readonly kind: "waits"; readonly why: string }
  | {
      readonly kind: "activates";
      /** As the end of a sentence: the autopilot ... */
      readonly why: string;
      readonly everyone: number;
      readonly stages: readonly Stage[];
    };

type Calls = Pick<Api, "results" | "proposal" | "push" | "history" | "version">;

/** Finds what is to be done. It stores a version if it proposes one, and activates nothing. @throws Failure */
export async function nextStep(api: Calls, activation: Activation, nowMs: number): Promise<Step> {
  const { everyone: version, stages, killSwitch } = activation;
  if (killSwitch !== null) return waits("the kill switch is on");
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
    const takesBack = `takes back version ${version}. ${harm.text}`;
    const left = isOurs ? [] : stages;
    const before = await harmless(api, activations, version);
    if (before !== 0) return activates(takesBack, before, left);
    // Version 0 draws no arms, so nobody would learn any more.
    const taught = await taughtBy(api, version);
    const isTried = taught.kind === "none" || isTakenBack(own, taught.version);
    return isTried
      ? activates(takesBack, 0, left)
      : activates(`${takesBack} Everyone gets what its visitors taught`, taught.version, left);
  }
  if (trial !== undefined)
    return isOurs
      ? ofTrial(api, version, trial, nowMs - Date.parse(begun.at))
      : waits("stages are in force that the autopilot did not make");
  if (harm !== null)
    return waits(`version ${version} harms, but somebody has put it in force again after it was taken back`);
  const restsSince = activations.find((one, i) => isTakeBack(one) || (!isOwn(one) && activations.slice(i).some(isOwn)));
  if (restsSince !== undefined && nowMs - Date.parse(restsSince.at) < REST_MS)
    return waits(
      isOwn(restsSince)
        ? "something was taken back within the last week"
        : "somebody changed what it did within the last week",
    );
  if (change !== null) return beginAnew(api, version, change.since, new Set(own.map(({ everyone }) => everyone)));
  return propose(api, version, new Set(own.flatMap((one) => one.stages.map((stage) => stage.version))));
}

async function ofTrial(api: Calls, everyone: number, { version, share }: Stage, ageMs: number): Promise<Step> {
  const { harm, grounds, objects } = await api.results(version);
  if (harm !== null) return activates(`takes back version ${version}. ${harm.text}`, everyone);
  const objection = grounds.objections.find(({ kind }) => kind !== "too-few-new-clients");
  if (objection !== undefined) return waits(`version ${version} cannot be judged. ${unstopped(objection.text)}`);
  if (objects.answered < objects.asked) return waits("not every object of the store answers");
  if (ageMs < STAGE_MS) return waits(`version ${version} has not been tried for a day yet`);
  const next = SHARES.find((one) => one > share);
  return next === undefined
    ? activates(`gives version ${version} to everyone`, version)
    : activates(`gives version ${version} to ${next * 100} % of the clients`, everyone, [{ version, share: next }]);
}

/** The same policy as a new version, whose visitors speak of what is so now. No visitor gets another answer by that. */
async function beginAnew(api: Calls, version: number, since: string, begun: ReadonlySet<number>): Promise<Step> {
  const { policy } = await api.version(version);
  if (policy === null) return waits(`version ${version} cannot be read`);
  const day = since.slice(0, 10);
  const why = `begins version ${version} anew, as HTTP/3 does something else to pages since ${day}`;
  const anew = begunAnew(fromServer(policy, `version ${version}`), version, day);
  const pushed = await (await api.push(anew, `${NOTE_PREFIX}${why}`)).json();
  // Somebody has put the one before in force again since: the same day makes the same policy.
  if (begun.has(pushed.version)) return waits(`version ${pushed.version}, which begins anew, was in force before`);
  return activates(why, pushed.version);
}

async function propose(api: Calls, version: number, tried: ReadonlySet<number>): Promise<Step> {
  const taught = await taughtBy(api, version);
  if (taught.kind === "none") return waits(taught.why);
  // The same evidence makes the same policy, and the store knows it again.
  if (tried.has(taught.version)) return waits(`version ${taught.version}, which is proposed, was tried before`);
  return activates(`tries ${taught.what}`, version, [{ version: taught.version, share: SHARES[0] }]);
}

type Taught =
  | { readonly kind: "stored"; readonly version: number; readonly what: string }
  | { readonly kind: "none"; readonly why: string };

/** Stores what a version's visitors taught, if it should save time. */
async function taughtBy(api: Calls, version: number): Promise<Taught> {
  const proposal = await api.proposal(version);
  if (proposal.kind !== "proposed") return { kind: "none", why: `nothing is proposed. ${unstopped(proposal.why)}` };
  const { gain, turned, policy } = proposal;
  if (turned.length === 0 || gain.low < GAIN_MIN) return { kind: "none", why: "no other policy is known to save time" };
  const saves = ((1 - Math.exp(-gain.value)) * 100).toFixed(1);
  const what = `what version ${version}'s visitors taught: it should save ${saves} % of new clients' time`;
  const pushed = await (await api.push(fromServer(policy, "the proposal"), `${NOTE_PREFIX}proposes ${what}`)).json();
  return { kind: "stored", version: pushed.version, what };
}

/** The last version before this one that everyone had, which nobody speaks against. Otherwise version 0, which observes. */
async function harmless(api: Calls, activations: readonly Activation[], version: number): Promise<number> {
  const own = activations.filter(isOwn);
  const earlier = new Set(activations.map(({ everyone }) => everyone));
  for (const one of [...earlier]
    .filter((known) => known !== version && !isTakenBack(own, known))
    .slice(0, EARLIER_ASKED)) {
    const { policy } = await api.version(one);
    // A policy that offers HTTP/3 to everyone draws no arms: nothing would speak against it.
    if (policy === null || policy.mode === "fixed-h3") continue;
    const { harm, change } = await api.results(one);
    // What was so before a change says nothing of what is so now.
    if (harm === null && change === null) return one;
  }
  return 0;
}

function isOwn({ note }: Activation): boolean {
  return note?.startsWith(NOTE_PREFIX) === true;
}

function isTakeBack({ note }: Activation): boolean {
  return note?.startsWith(`${NOTE_PREFIX}takes back `) === true;
}

function isTakenBack(own: readonly Activation[], version: number): boolean {
  return own.some(({ note }) => note?.startsWith(`${NOTE_PREFIX}takes back version ${version}.`));
}

function unstopped(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function waits(why: string): Step {
  return { kind: "waits", why };
}

function activates(why: string, everyone: number, stages: readonly Stage[] = []): Step {
  return { kind: "activates", why, everyone, stages };
}
