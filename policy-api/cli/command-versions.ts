import type { Command } from "./command.ts";
import { namedVersion, readable } from "./named-policy.ts";
import { nextPageText, PAGE_OPTIONS } from "./page-options.ts";
import { readPolicyFile } from "./policy-file.ts";
import { verdictText } from "./policy-verdict.ts";
import { printable } from "./printable.ts";
import { madeText } from "./time-text.ts";
import { versionTable } from "./version-table.ts";

export const PUSH: Command = {
  name: "push",
  usage: "FILE [--note TEXT]",
  summary: "Store a policy as a new version. This puts nothing in force: see `activate`.",
  details: "A policy that the server has already gets no second version. After a lost answer, push again.",
  options: ["note"],
  words: [1, 1],
  async run({ words: [file = ""], options, io, api }) {
    const policy = readPolicyFile(file, io);
    const reply = await (await api()).push(policy, options.note);
    const stored = await reply.json();
    const { version, contentHash, author, createdAt, note } = stored;
    const isNew = reply.status === 201;
    const first = isNew
      ? `${file} is now version ${version}.`
      : `${file} is version ${version} already, ${printable(madeText(author, createdAt, note, io.nowMs()))}`;
    return {
      json: { ...stored, isNew },
      text: [
        first,
        `content  ${contentHash}`,
        "",
        verdictText("this policy", policy, { path: "/" }),
        "A push puts nothing in force. What this one would change, and how to begin with few:",
        `  diff active ${version}`,
        `  activate ${version} --share 5%`,
      ].join("\n"),
    };
  },
};

export const LIST: Command = {
  name: "list",
  usage: "[--limit N] [--before VERSION]",
  summary: "List the versions of the policy, newest first.",
  options: PAGE_OPTIONS,
  async run({ options, io, api: connected, columns }) {
    const api = await connected();
    const [versions, { activation }] = await Promise.all([api.versions(options), api.activation()]);
    const { policies, next } = versions;
    const text =
      policies.length === 0
        ? "Nobody has pushed a policy yet: version 0, the initial one, observes."
        : versionTable(policies, activation, io.nowMs(), columns);
    return { json: versions, text: text + nextPageText(next) };
  },
};

export const SHOW: Command = {
  name: "show",
  usage: "VERSION|active",
  summary: "Print a version's policy, as JSON that `push` takes.",
  details: "With --json, everything that is stored about the version: its author, note and hash too.",
  words: [1, 1],
  async run({ words: [name = ""], options, api }) {
    const stored = await namedVersion(name, await api());
    const { policy } = options.json === true ? stored : readable(stored);
    return { json: stored, text: JSON.stringify(policy, undefined, 2), isVerbatim: true };
  },
};
