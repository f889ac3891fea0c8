import { KILL_SWITCHES } from "../core/activation.ts";
import { changed, inForceText, KILL_SWITCH_MEANS, unchanged, WHEN_OBEYED } from "./activation-text.ts";
import { unlessChanged } from "./changed-meanwhile.ts";
import type { Call, Command, Result } from "./command.ts";
import { confirm } from "./confirm.ts";
import { misused } from "./failure.ts";
import { oneOf } from "./values.ts";

export const KILL: Command = {
  name: "kill",
  usage: "[fixed-h2|clear|off] [--note TEXT] [--yes]",
  summary: "Take HTTP/3 back from everybody, whatever the policy says; or end that (off).",
  details: `  fixed-h2  nobody is offered HTTP/3, and offers that may still live are taken back (the default)
  clear     every page says clear, also to clients that should hold nothing
  off       the policy counts again

Asks first; --yes skips the question. It can be turned on whatever somebody else changed meanwhile;
turning it off is then refused (exit code 4).`,
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
    return changed(undefined, after, `${inForceText(after, call.io.nowMs())}\n\n${WHEN_OBEYED}`);
  },
};

async function turnOff(call: Call): Promise<Result> {
  if (call.options.note !== undefined) throw misused("`kill off` takes no --note.");
  const api = await call.api();
  const { activation, etag } = await api.activation();
  const { killSwitch } = activation;
  if (killSwitch === null) return unchanged("The kill switch is off already.", activation, call.io.nowMs());
  const preview = `The kill switch is on (${killSwitch}). Without it:\n\n${inForceText({ ...activation, killSwitch: null }, call.io.nowMs())}`;
  await confirm(call, preview, "Turn the kill switch off?");
  const after = await unlessChanged(api, call.io, () => api.endKill(etag));
  return changed(activation, after, `The kill switch is off: revision ${after.revision}. ${WHEN_OBEYED}`);
}
