import { KILL_SWITCHES } from "../decision/activation.ts";
import type { UnstoredKillSwitch } from "../api/contract/activation.ts";
import { changed, inForceText, KILL_SWITCH_MEANS, killSwitchLines, unchanged, WHEN_OBEYED } from "./activation-text.ts";
import { unlessChanged } from "./changed-meanwhile.ts";
import type { Call, Command, Result } from "./command.ts";
import { confirm } from "./confirm.ts";
import { misused } from "./failure.ts";
import { printable } from "./printable.ts";
import { oneOf } from "./values.ts";

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
function unstored(held: UnstoredKillSwitch): Result {
  const { killSwitch, problem } = held;
  const lines = killSwitch === null ? ["The kill switch in memory is off."] : killSwitchLines(killSwitch).slice(0, 2);
  return { json: { changed: true, ...held }, text: [...lines, "", `NOT STORED: ${printable(problem)}.`].join("\n") };
}

async function turnOff(call: Call): Promise<Result> {
  if (call.options.note !== undefined) throw misused("`kill off` takes no --note.");
  const api = await call.api();
  const { killSwitch: inMemory } = await (await api.health()).json();
  if (inMemory?.stored === false) {
    await confirm(
      call,
      `The kill switch is on (${inMemory.kind}), in memory only: the store could not take it.`,
      "Turn the kill switch off?",
    );
    const ended = await api.endKill("*");
    return "stored" in ended ? unstored(ended) : changed(undefined, ended, inForceText(ended, call.io.nowMs()));
  }
  const { activation, etag } = await api.activation();
  const { killSwitch } = activation;
  if (killSwitch === null) return unchanged("The kill switch is off already.", activation, call.io.nowMs());
  const preview = `The kill switch is on (${killSwitch}). Without it:\n\n${inForceText({ ...activation, killSwitch: null }, call.io.nowMs())}`;
  await confirm(call, preview, "Turn the kill switch off?");
  const after = await unlessChanged(api, call.io, () => api.endKill(etag));
  if ("stored" in after) return unstored(after);
  return changed(activation, after, `The kill switch is off: revision ${after.revision}. ${WHEN_OBEYED}`);
}
