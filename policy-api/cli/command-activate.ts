import { isSameState } from "../decision/activation.ts";
import { parsePolicy } from "../decision/parse-policy.ts";
import { isForEveryone, type Rollout, rolledOut } from "./activation-change.ts";
import { beforeAfterText, changed, killSwitchLines, unchanged, WHEN_OBEYED } from "./activation-text.ts";
import { unlessChanged } from "./changed-meanwhile.ts";
import type { Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import { namedVersion } from "./named-policy.ts";
import { verdictText } from "./policy-verdict.ts";
import { printable } from "./printable.ts";
import { madeText } from "./time-text.ts";
import { readVersion } from "./values.ts";

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
after, and asks first if everyone gets it at once; --yes skips the question. It does not overwrite a
change that somebody else made meanwhile (exit code 4).`,
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
    const preview = [
      ...killSwitchLines(killSwitch),
      `Version ${rollout.version}: ${mode ?? "unreadable"}, ${printable(madeText(author, createdAt, note, io.nowMs()))}`,
      ...verdictLines(policy, rollout),
      "",
      beforeAfterText(activation, after, call.columns),
    ].join("\n");
    if (isForEveryone(rollout)) await confirm(call, preview, `Version ${rollout.version} for everyone?`);
    else call.tell(`${preview}\n`);
    const { everyone, stages } = after;
    const now = await unlessChanged(api, io, () => api.activate({ everyone, stages, note: options.note }, etag));
    return changed(activation, now, `Revision ${now.revision} is in force. ${WHEN_OBEYED} \`rollback\` undoes it.`);
  },
};

/** Nothing where the version ends, or cannot be read. */
function verdictLines(policy: unknown, { version, share, pathPrefix = "/" }: Rollout): readonly string[] {
  const parsed = parsePolicy(policy);
  return share === 0 || !parsed.ok ? [] : [verdictText(`version ${version}`, parsed.value, { path: pathPrefix })];
}
