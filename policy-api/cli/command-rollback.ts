import { beforeAfterText, changed, inForceText, KILL_SWITCH_MEANS, WHEN_OBEYED } from "./activation-text.ts";
import type { Api } from "./api.ts";
import { unlessChanged } from "./changed-meanwhile.ts";
import type { Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import type { Activation } from "../api/contract/activation.ts";
import { type ActivationState, INITIAL_ACTIVATION } from "../decision/activation.ts";
import { EXIT, Failure } from "./failure.ts";
import { printable } from "./printable.ts";
import { madeText } from "./time-text.ts";

export const ROLLBACK: Command = {
  name: "rollback",
  usage: "[--note TEXT] [--yes]",
  summary: "Return to what was in force before the last change.",
  details: `Versions, stages and kill switch become what they were. Two rollbacks undo two changes. Shows what
it returns to, and asks first; --yes skips the question. It does not undo a change that somebody
else made meanwhile (exit code 4). After \`kill off\` it would switch the kill switch on again: then
--yes is not enough.`,
  options: ["note", "yes"],
  async run(call) {
    const { options, io } = call;
    const api = await call.api();
    const { activation, etag } = await api.activation();
    const target = await previous(activation, api);
    const made = ({ author, at, note }: Activation): string => madeText(author, at, note, io.nowMs());
    const kind = activation.killSwitch === null ? target.killSwitch : null;
    const preview = [
      ...headlines(activation, target),
      `What ends: revision ${activation.revision}, ${printable(made(activation))}`,
      `Back to:   revision ${target.revision}, ${printable(made(target))}`,
      "",
      beforeAfterText(activation, target, call.columns),
    ].join("\n");
    // Nothing but `kill off` is undone by this: it leaves versions and stages as they are.
    const own = kind === null ? undefined : { word: "kill", instead: `\`kill ${kind} --yes\` does what it would do.` };
    await confirm(call, preview, `Back to revision ${target.revision}?`, own);
    const after = await unlessChanged(api, io, () => api.rollBack(options.note, etag));
    return changed(activation, after, `${inForceText(after, io.nowMs())}\n\n${WHEN_OBEYED}`);
  },
};

/** What a rollback does to the kill switch: more than to any version, so it stands first. */
function headlines(now: ActivationState, after: ActivationState): readonly string[] {
  if (now.killSwitch === after.killSwitch) return [];
  if (after.killSwitch === null)
    return [`The kill switch (${now.killSwitch}) ends by this: the policy counts again.`, ""];
  return [
    `*** THIS SWITCHES THE KILL SWITCH ON AGAIN (${after.killSwitch}). ***`,
    `${KILL_SWITCH_MEANS[after.killSwitch]}, whatever the policy says.`,
    "",
  ];
}

async function previous({ previousRevision }: Activation, api: Api): Promise<Activation> {
  if (previousRevision === null) throw new Failure(EXIT.refused, "There is nothing to go back to.");
  // The history does not list revision 0, as nobody made it.
  if (previousRevision === INITIAL_ACTIVATION.revision)
    return { ...INITIAL_ACTIVATION, stages: [], at: new Date(INITIAL_ACTIVATION.atMs).toISOString() };
  const [found] = (await api.history({ limit: 1, before: previousRevision + 1 })).activations;
  if (found?.revision === previousRevision) return found;
  throw new Failure(EXIT.unreachable, `${api.origin} does not say what revision ${previousRevision} was.`);
}
