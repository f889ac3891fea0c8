import { inForceText } from "./activation-text.ts";
import { nextStep } from "./autopilot.ts";
import { unlessChanged } from "./changed-meanwhile.ts";
import type { Command } from "./command.ts";

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
    if (step.kind === "waits") return { json: step, text: `Nothing to do: ${step.why}.` };
    const { everyone, stages, why, cause } = step;
    const change = { everyone, stages: [...stages], note: `autopilot ${why}`, cause };
    const now = await unlessChanged(api, io, async () => api.activate(change, etag));
    return {
      json: { ...step, activation: now },
      text: `Done: it ${why.replace(/\.$/, "")}.\n\n${inForceText(now, io.nowMs())}`,
    };
  },
};
