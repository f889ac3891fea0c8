import { jsonDiff } from "../decision/json-diff.ts";
import { changeText } from "./change-text.ts";
import type { Call, Command } from "./command.ts";
import { decisionsGrid, gridText, hasRulesElsewhere, isChanged } from "./decisions-grid.ts";
import { EXIT, Failure } from "./failure.ts";
import { namedPolicy } from "./named-policy.ts";
import { drawnShare, verdictText } from "./policy-verdict.ts";
import { count, counted } from "./quantities.ts";
import { table } from "./table.ts";

export const DIFF: Command = {
  name: "diff",
  usage: "[A] [B] [--path /shop/] [--asn N] [--country JP]",
  summary: "Show how two policies differ, and which answers would change.",
  details: `A and B are each a version's number, a file, or \`active\`: what everyone gets. A alone is compared
with \`active\`; without A and B, the newest version is. (Write a file whose name is a number as ./3)

Says to whom B offers HTTP/3, and who is drawn into arms. Shows the fields that differ, and then the
answers on a grid of paths: for clients that TCP measured at 200 Mbit/s, by RTT and loss, and for an
unknown client. "h3 60 s" is an offer for 60 s. The answers are for a document at --path (/ if not
set) and a client of --asn and --country (of none if not set), without exploration.

Ends with 0 if the two are the same, 1 if they differ, and more if something failed.`,
  options: ["path", "asn", "country"],
  words: [0, 2],
  async run(call) {
    const { path = "/", asn, country } = call.options;
    const [before, after] = await troubleAbove1(bothPolicies(call));
    const changes = jsonDiff(before.policy, after.policy);
    const where = { path, asn, country };
    const cells = decisionsGrid(before.policy, after.policy, where);
    const changed = cells.filter(isChanged).length;
    const draws = drawnShare(before.policy, where) > 0 || drawnShare(after.policy, where) > 0;
    const same = changes.length === 0;
    const json = { before: before.name, after: after.name, same, changes, path, decisions: cells };
    if (same) return { json, text: `${before.name} and ${after.name} are the same policy.` };
    const fields = table(
      ["field", "change"],
      changes.map((change) => [change.pointer, changeText(change)]),
      call.columns,
    );
    const text = [
      `${before.name} -> ${after.name}: ${counted(changes.length, "field")} of the policy differ${changes.length === 1 ? "s" : ""}.`,
      verdictText(after.name, after.policy, where),
      "",
      fields,
      "",
      `Of ${count(cells.length)} answers on ${path}${draws ? " to clients that are not drawn" : ""}, ${changed === 0 ? "none would change." : `${count(changed)} would change (->):`}`,
      "",
      gridText(cells, call.columns),
      ...(hasRulesElsewhere(before.policy, after.policy, where)
        ? ["", "Rules name autonomous systems or countries: --asn and --country show the answers there."]
        : []),
    ].join("\n");
    return { json, text, exitCode: EXIT.refused };
  },
};

async function bothPolicies(call: Call) {
  const [first, second] = call.words;
  const [before, after] = second === undefined ? [undefined, first ?? (await newest(call))] : [first, second];
  return [await namedPolicy(before ?? "active", call), await namedPolicy(after, call)] as const;
}

async function newest({ api }: Call): Promise<string> {
  const { policies } = await (await api()).versions({ limit: 1 });
  return String(policies[0]?.version ?? 0);
}

/** The exit code 1 says that two policies differ, so a failure must end with a higher one. */
async function troubleAbove1<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof Failure && error.exitCode === EXIT.refused)
      throw new Failure(EXIT.usage, error.message, error.details);
    throw error;
  }
}
