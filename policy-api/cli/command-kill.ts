import { KILL_SWITCHES } from "../core/activation.ts";
import { inForceText, KILL_SWITCH_MEANS, WHEN_OBEYED } from "./activation-text.ts";
import { unlessChanged } from "./changed-meanwhile.ts";
import type { Call, Command, Result } from "./command.ts";
import { confirm } from "./confirm.ts";
import { misused } from "./failure.ts";
import { readOneOf } from "./values.ts";

export const KILL: Command = {
  name: "kill",
  usage: "[fixed-h2|clear|off] [--note TEXT] [--yes]",
  summary: "Take HTTP/3 back from everybody, whatever the policy says; or end that (off).",
  details: `  fixed-h2  HTTP/3 is offered to nobody, and taken back where an offer may live (the default)
  clear     every page says clear, also to clients that should hold nothing
  off       the policy counts again

Asks (--yes: does not ask). It is turned on whatever somebody else changed meanwhile; turning it off
is refused then (exit code 4).`,
  options: ["note", "yes"],
  words: [0, 1],
  async run(call) {
    const kind = readOneOf(call.words[0] ?? "fixed-h2", "The kill switch", [...KILL_SWITCHES, "off"]);
    if (kind === "off") return turnOff(call);
    await confirm(
      call,
      `To be put in force, until \`kill off\`: ${KILL_SWITCH_MEANS[kind]}.`,
      `The kill switch (${kind})?`,
    );
    const after = await call.api().kill(kind, call.options.note);
    return {
      json: { changed: true, after },
      text: `${inForceText(after, call.io.nowMs())}\n\n${WHEN_OBEYED}`,
    };
  },
};

async function turnOff(call: Call): Promise<Result> {
  if (call.options.note !== undefined) throw misused("`kill off` takes no --note.");
  const api = call.api();
  const { activation, etag } = await api.activation();
  const { killSwitch } = activation;
  if (killSwitch === null)
    return {
      json: { changed: false, before: activation, after: activation },
      text: `The kill switch is off already.\n\n${inForceText(activation, call.io.nowMs())}`,
    };
  const preview = `The kill switch is on (${killSwitch}). Without it:\n\n${inForceText({ ...activation, killSwitch: null }, call.io.nowMs())}`;
  await confirm(call, preview, "Turn the kill switch off?");
  const after = await unlessChanged(api, call.io, () => api.endKill(etag));
  return {
    json: { changed: true, before: activation, after },
    text: `The kill switch is off: revision ${after.revision}. ${WHEN_OBEYED}`,
  };
}
