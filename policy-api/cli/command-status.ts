import { inForceText, killSwitchLines, stagesText, versionTable } from "./activation-text.ts";
import type { Command } from "./command.ts";
import type { AuditEntry } from "../api/contract/policies.ts";
import type { Health } from "../api/contract/deployment.ts";
import { EXIT } from "./failure.ts";
import { nextPageText, PAGE_OPTIONS } from "./options.ts";
import { stackText } from "../decision/stack.ts";
import { table } from "./table.ts";
import { whenText } from "./quantities.ts";

/** How many versions status shows. */
const LATEST = 5;

export const STATUS: Command = {
  name: "status",
  usage: "",
  summary: "Say whether all is well, what is in force for whom, and what was pushed last.",
  details: "Ends with 5 if the server says that it is not well.",
  async run({ io, api: connected, columns, print }) {
    const api = await connected();
    const reply = await api.health();
    const health = await reply.json();
    // The rest needs a token, and a store that answers. The health needs neither.
    print(`${api.origin}: ${healthText(health)}\n`);
    const [{ activation }, { policies }] = await Promise.all([api.activation(), api.versions({ limit: LATEST })]);
    const latest = versionTable(policies, activation, io.nowMs(), columns);
    return {
      json: { origin: api.origin, health, activation, policies },
      text: `${inForceText(activation, io.nowMs())}\n\n${latest}`,
      exitCode: reply.status === 200 ? EXIT.done : EXIT.unreachable,
    };
  },
};

function healthText({ status, problems, warnings, stack, killSwitch }: Health): string {
  const kill = killSwitch?.stored === false ? killSwitchLines(killSwitch.kind).slice(0, 1) : [];
  const serving = stack === null ? [] : [`${stackText(stack)} serves`];
  return [status, ...serving, ...problems, ...warnings.map((warning) => `WARNING: ${warning}`), ...kill].join("\n  ");
}

export const HISTORY: Command = {
  name: "history",
  usage: "[--limit N] [--before REVISION]",
  summary: "List what was in force when, newest first.",
  options: PAGE_OPTIONS,
  async run({ options, io, api, columns }) {
    const page = await (await api()).history(options);
    const text = table(
      ["revision", "everyone", "stages", "kill", "author", "since", "cause", "note"],
      page.activations.map(({ revision, everyone, stages, killSwitch, author, at, cause, note }) => [
        revision,
        `v${everyone}`,
        stagesText(stages),
        killSwitch,
        author,
        whenText(at, io.nowMs()),
        cause && `${cause.step} v${cause.version}`,
        note,
      ]),
      columns,
    );
    return { json: page, text: text + nextPageText(page.next) };
  },
};

/** What an entry of the audit put in force: `v4: 5 % of /shop/; v3` */
function whichText({ everyone, stages, killSwitch }: NonNullable<AuditEntry["activation"]>): string {
  return [killSwitch, stagesText(stages), `v${everyone}`].filter(Boolean).join("; ");
}

export const AUDIT: Command = {
  name: "audit",
  usage: "[--limit N] [--before ID]",
  summary: "List who did what, newest first.",
  options: PAGE_OPTIONS,
  async run({ options, io, api, columns }) {
    const page = await (await api()).audit(options);
    const text = table(
      ["id", "when", "who", "what", "revision", "which", "note"],
      page.entries.map(({ id, at, actor, action, version, revision, activation, note }) => [
        id,
        whenText(at, io.nowMs()),
        actor,
        action,
        revision,
        activation === null ? (version === null ? null : `v${version}`) : whichText(activation),
        note,
      ]),
      columns,
    );
    return { json: page, text: text + nextPageText(page.next) };
  },
};
