import type { Activation, UnstoredKillSwitch } from "../api/contract/policies.ts";
import { INITIAL_ACTIVATION, isSameState, KILL_SWITCHES } from "../decision/activation.ts";
import { parsePolicy } from "../decision/policy.ts";
import {
  changed,
  inForceText,
  isForEveryone,
  KILL_SWITCH_MEANS,
  killSwitchLines,
  livingOffersText,
  rolledOut,
  type Rollout,
  unchanged,
  unlessChanged,
  WHEN_OBEYED,
  whoGetsWhat,
} from "./activation-text.ts";
import type { Api } from "./api.ts";
import type { Call, Command, Result } from "./command.ts";
import { confirm } from "./confirm.ts";
import { EXIT, Failure, misused } from "./failure.ts";
import { namedVersion } from "./named-policy.ts";
import { oneOf, readVersion } from "./options.ts";
import { otherStackText, verdictLines } from "./policy-text.ts";
import { madeText } from "./quantities.ts";
import { printable } from "./table.ts";

export const ACTIVATE: Command = {
  name: "activate",
  usage: "VERSION [--share 5%] [--path /shop/] [--note TEXT] [--yes]",
  summary: "Put a version in force: for everyone, for a share of clients, under a path.",
  details: `Without --share and --path the version is for everyone, and all stages end. With either it gets a
stage, which replaces the stage of the same path, or is added. Stages with paths count before the
stage without a path, longer paths first.

  activate 5 --share 5%      begin with few; a client in a share stays in it as it grows
  activate 5 --path /shop/   everybody, under /shop/
  activate 5 --share 100%    everyone; stages with paths stay
  activate 5 --share 0%      end the stage without a path

Says to whom the version offers HTTP/3 and who is drawn into arms. Shows who gets what before and
after, and asks first if everyone gets it at once, or if it was made for another stack than the one
that serves; --yes skips the question. It does not overwrite a change that somebody else made
meanwhile (exit code 4).`,
  options: ["share", "path", "note", "yes"],
  words: [1, 1],
  async run(call) {
    const { words, options, io } = call;
    const rollout = {
      version: readVersion(words[0] ?? "", "The version"),
      share: options.share,
      pathPrefix: options.path,
    };
    const api = await call.api();
    const [{ activation, etag }, { mode, policy, author, createdAt, note }] = await Promise.all([
      api.activation(),
      namedVersion(String(rollout.version), api),
    ]);
    const { killSwitch } = activation;
    const after = { ...rolledOut(activation, rollout), killSwitch };
    if (isSameState(activation, after)) return unchanged("That is in force already.", activation, io.nowMs());
    const { verdict, warning } = await lookAt(policy, rollout, api);
    const preview = [
      inForceText(activation, io.nowMs()),
      "",
      `Version ${rollout.version}: ${mode ?? "unreadable"}, ${printable(madeText(author, createdAt, note, io.nowMs()))}`,
      ...verdict,
      ...(warning === undefined ? [] : [warning]),
      "",
      "After this:",
      ...whoGetsWhat(after),
    ].join("\n");
    if (isForEveryone(rollout)) await confirm(call, preview, `Version ${rollout.version} for everyone?`);
    else if (warning !== undefined) await confirm(call, preview, `Version ${rollout.version} all the same?`);
    else call.print(`${preview}\n`);
    const living = await livingOffersText(activation, after, api);
    const { everyone, stages } = after;
    const now = await unlessChanged(api, io, () => api.activate({ everyone, stages, note: options.note }, etag));
    return changed(
      activation,
      now,
      `Revision ${now.revision} is in force. ${WHEN_OBEYED} \`rollback\` undoes it.${living}`,
    );
  },
};

/** What a version does, and a warning if it is not of the stack that serves. Nothing where the version ends, or cannot be read. */
async function lookAt(policy: unknown, { version, share, pathPrefix = "/" }: Rollout, api: Api) {
  const parsed = parsePolicy(policy);
  if (share === 0 || !parsed.ok) return { verdict: [], warning: undefined };
  const name = `version ${version}`;
  const verdict = await verdictLines(name, parsed.value, { path: pathPrefix }, api);
  return { verdict, warning: await otherStackText(name, parsed.value, api) };
}

export const ROLLBACK: Command = {
  name: "rollback",
  usage: "[--note TEXT] [--yes]",
  summary: "Return to what was in force before the last change.",
  details: `Versions, stages and kill switch become what they were. Two rollbacks undo two changes. Shows what
it returns to, and asks first; --yes skips the question. It does not undo a change that somebody
else made meanwhile (exit code 4). It switches no kill switch on again: \`kill\` does that.`,
  options: ["note", "yes"],
  async run(call) {
    const { options, io } = call;
    const api = await call.api();
    const { activation, etag } = await api.activation();
    const target = await previous(activation, api);
    // Nothing but `kill off` is undone by this: it leaves versions and stages as they are.
    if (activation.killSwitch === null && target.killSwitch !== null)
      throw misused(`This would switch the kill switch on again. \`kill ${target.killSwitch}\` does that.`);
    const preview = `${inForceText(activation, io.nowMs())}\n\nBack to:\n${inForceText(target, io.nowMs())}`;
    await confirm(call, preview, `Back to revision ${target.revision}?`);
    const living = await livingOffersText(activation, target, api);
    const after = await unlessChanged(api, io, () => api.rollBack(options.note, etag));
    return changed(activation, after, `${inForceText(after, io.nowMs())}\n\n${WHEN_OBEYED}${living}`);
  },
};

async function previous({ previousRevision }: Activation, api: Api): Promise<Activation> {
  if (previousRevision === null) throw new Failure(EXIT.refused, "There is nothing to go back to.");
  // The history does not list revision 0, as nobody made it.
  if (previousRevision === INITIAL_ACTIVATION.revision) return INITIAL_ACTIVATION;
  const [found] = (await api.history({ limit: 1, before: previousRevision + 1 })).activations;
  if (found?.revision === previousRevision) return found;
  throw new Failure(EXIT.unreachable, `${api.origin} does not say what revision ${previousRevision} was.`);
}

export const KILL: Command = {
  name: "kill",
  usage: "[fixed-h2|clear|off] [--note TEXT] [--yes]",
  summary: "Take HTTP/3 back from everybody, whatever the policy says; or end that (off).",
  details: `  fixed-h2  nobody is offered HTTP/3, and offers that may still live are taken back (the default)
  clear     every page says clear, also to clients that should hold nothing
  off       the policy counts again

Asks first; --yes skips the question. It can be turned on whatever somebody else changed meanwhile;
turning it off is then refused (exit code 4). If the store cannot take it, it is in force in memory,
and the command says so (exit code 0).`,
  options: ["note", "yes"],
  words: [0, 1],
  async run(call) {
    const kind = oneOf([...KILL_SWITCHES, "off"])(call.words[0] ?? "fixed-h2", "The kill switch");
    if (kind === "off") return turnOff(call);
    await confirm(
      call,
      `To be put in force, until \`kill off\`: ${KILL_SWITCH_MEANS[kind]}.`,
      `The kill switch (${kind})?`,
    );
    const after = await (await call.api()).kill(kind, call.options.note);
    if ("stored" in after) return unstored(after);
    return changed(undefined, after, `${inForceText(after, call.io.nowMs())}\n\n${WHEN_OBEYED}`);
  },
};

/** A kill switch that the store could not take. */
function unstored(reply: UnstoredKillSwitch): Result {
  const { killSwitch, problem } = reply;
  const lines = killSwitch === null ? ["The kill switch in memory is off."] : killSwitchLines(killSwitch).slice(0, 2);
  return { json: { changed: true, ...reply }, text: [...lines, "", `NOT STORED: ${printable(problem)}.`].join("\n") };
}

async function turnOff(call: Call): Promise<Result> {
  if (call.options.note !== undefined) throw misused("`kill off` takes no --note.");
  const api = await call.api();
  const { killSwitch: known } = await (await api.health()).json();
  // One that the store could not take is in no activation.
  const stored = known?.stored === false ? undefined : await api.activation();
  const kind = stored === undefined ? known?.kind : stored.activation.killSwitch;
  if (stored !== undefined && kind === null)
    return unchanged("The kill switch is off already.", stored.activation, call.io.nowMs());
  const then = stored && { ...stored.activation, killSwitch: null };
  const preview =
    then === undefined
      ? `The kill switch is on (${kind}), in memory only: the store could not take it.`
      : `The kill switch is on (${kind}). Without it:\n\n${inForceText(then, call.io.nowMs())}`;
  await confirm(call, preview, "Turn the kill switch off?");
  const after = await unlessChanged(api, call.io, () => api.endKill(stored?.etag ?? "*"));
  if ("stored" in after) return unstored(after);
  return changed(stored?.activation, after, `The kill switch is off: revision ${after.revision}. ${WHEN_OBEYED}`);
}
