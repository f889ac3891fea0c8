import { resolve } from "node:path";
import type { Command } from "./command.ts";
import { EXIT } from "./failure.ts";
import { fromServer } from "./named-policy.ts";
import { writeNewFile } from "./files.ts";
import { missingObjects, resultsText } from "./results-text.ts";
import { readVersion } from "./options.ts";
import type { Change, Proposal } from "../api/contract/results.ts";
import { bytes, count, counted, milliseconds, percent } from "./quantities.ts";
import { table } from "./table.ts";

export const RESULTS: Command = {
  name: "results",
  usage: "[VERSION]",
  summary: "Compare visitors that were offered HTTP/3 with those that were not.",
  details: `By what the pages of drawn clients reported under VERSION; without it, under the version that is
in force for everyone. Ends with a sentence that says what can be said, and claims no more. With
--json also by cell of the gain table.

Ends with 5 if no object of the store answers.`,
  words: [0, 1],
  async run({ words: [name], api, columns }) {
    const version = readVersionArgument(name);
    const results = await (await api()).results(version);
    const { asked, answered } = results.objects;
    return {
      json: results,
      text: resultsText(results, columns),
      exitCode: asked > 0 && answered === 0 ? EXIT.unreachable : EXIT.done,
    };
  },
};

/** The version that a line names. Undefined: the one in force. @throws Failure */
function readVersionArgument(name: string | undefined): number | undefined {
  return name === undefined ? undefined : readVersion(name, "The version");
}

export const PROPOSE: Command = {
  name: "propose",
  usage: "[VERSION] [--out FILE]",
  summary: "Propose a policy by what visitors' pages reported. This puts nothing in force.",
  details: `Takes VERSION, or the version that is in force for everyone, and changes its gain table by what was
reported, each figure by how certain that is. Shows what changes and what it should save.
--out writes the policy to a FILE that is not there yet, for \`push\`.

Ends with 1 if nothing can be proposed.`,
  options: ["out"],
  words: [0, 1],
  async run({ words: [name], options: { out }, io, api, columns }) {
    const version = readVersionArgument(name);
    const proposal = await (await api()).proposal(version);
    if (proposal.kind !== "proposed")
      return {
        json: proposal,
        text: `Nothing is proposed from version ${proposal.version}. ${proposal.why} ${missingObjects(proposal.objects) ?? ""}`.trim(),
        exitCode: EXIT.refused,
      };
    const policy = fromServer(proposal.policy, "the proposal");
    const file = out === undefined ? undefined : resolve(io.folder, out);
    if (file !== undefined) writeNewFile(file, `${JSON.stringify(policy, undefined, 2)}\n`, "the policy");
    const after =
      file === undefined
        ? "Nothing is stored by this on the server."
        : `The policy is in ${file}. \`push\` stores it as a version.`;
    return {
      json: { ...proposal, ...(file && { file }) },
      text: `${proposalText({ ...proposal, policy }, columns)}\n\n${after}`,
    };
  },
};

const PARTS = { next: "next page", return: "return", price: "price of an offer" } as const;

function proposalText(
  { version, clients, changes, gain, turned, objects }: Extract<Proposal, { kind: "proposed" }>,
  columns: number,
) {
  const missing = missingObjects(objects);
  const seen = changes.filter(({ clients: whose }) => whose > 0);
  const others = changes.length - seen.length;
  const saved = (value: number): string => ((1 - Math.exp(-value)) * 100).toFixed(2);
  return [
    `From version ${version}, by ${counted(clients, "client")} (a client counts in each of its cells).`,
    ...(missing === undefined ? [] : [missing]),
    "",
    changes.length === 0
      ? "No figure of the gain table changes."
      : table(
          ["figure", "RTT", "bytes", "loss", "from", "to", "se", "clients"],
          seen.map(({ part, rttMs, contentBytes, lossRatio, before, after, se, clients: whose }: Change) => [
            PARTS[part],
            milliseconds(rttMs),
            contentBytes === undefined ? null : bytes(contentBytes),
            lossRatio === undefined ? null : percent(lossRatio),
            before,
            after,
            se,
            count(whose),
          ]),
          columns,
        ),
    ...(others === 0 ? [] : ["", `${counted(others, "more figure")} of places near them: with --json.`]),
    "",
    turned.length === 0
      ? "No new client would get another answer."
      : table(
          ["new clients at", "with pages of", "of all", "would get"],
          turned.map(({ rttMs, contentBytes, share, answer }) => [
            milliseconds(rttMs),
            bytes(contentBytes),
            percent(share),
            answer === "offer" ? "an offer" : "no offer",
          ]),
          columns,
        ),
    "",
    `Expected to save ${saved(gain.value)} % of the time of new clients' pages (95 %: ${saved(gain.low)} to ${saved(gain.high)} %).`,
  ].join("\n");
}
