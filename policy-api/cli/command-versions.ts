import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Call, Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import { readPolicyFile } from "./files.ts";
import {
  decisionsGrid,
  drawnShare,
  gridText,
  isChanged,
  otherStackText,
  verdictLines,
  verdictText,
} from "./policy-text.ts";
import { count, counted, madeText, percent } from "./quantities.ts";
import { namedPolicy, namedVersion, readable } from "./named-policy.ts";
import { nextPageText, PAGE_OPTIONS } from "./options.ts";
import { printable, table } from "./table.ts";
import { versionTable } from "./activation-text.ts";
import { type JsonChange, jsonDiff } from "../decision/json-diff.ts";
import { EXIT, Failure } from "./failure.ts";

export const VALIDATE: Command = {
  name: "validate",
  usage: "FILE",
  summary: "Say what a policy is, or everything that is wrong with it. Needs no server.",
  details: `Says in a sentence to whom it offers HTTP/3. Every fault is a line: the file, the JSON pointer to the
place, what should be there.`,
  words: [1, 1],
  run({ words: [file = ""], io }) {
    const policy = readPolicyFile(file, io);
    const { size } = statSync(resolve(io.folder, file));
    const { mode, method, provenance } = policy;
    return {
      text: `${file} is a valid policy of ${count(size)} bytes: ${mode}.\n${verdictText("it", policy, { path: "/" })}`,
      json: { valid: true, bytes: size, mode, method: method?.kind ?? null, provenance: provenance ?? null },
    };
  },
};

export const PUSH: Command = {
  name: "push",
  usage: "FILE [--note TEXT] [--yes]",
  summary: "Store a policy as a new version. This puts nothing in force: see `activate`.",
  details: `A policy that the server has already gets no second version. After a lost answer, push again. Asks
first if the policy was made for another stack than the one that serves; --yes skips the question.`,
  options: ["note", "yes"],
  words: [1, 1],
  async run(call) {
    const { words, options, io } = call;
    const [file = ""] = words;
    const policy = readPolicyFile(file, io);
    const connected = await call.api();
    const verdict = await verdictLines("this policy", policy, { path: "/" }, connected);
    const warning = await otherStackText("this policy", policy, connected);
    if (warning !== undefined) await confirm(call, warning, "Store it all the same?");
    const stored = await connected.push(policy, options.note);
    const { version, contentHash, author, createdAt, note, isNew } = stored;
    const first = isNew
      ? `${file} is now version ${version}.`
      : `${file} is version ${version} already, ${printable(madeText(author, createdAt, note, io.nowMs()))}`;
    return {
      json: stored,
      text: [
        first,
        `content  ${contentHash}`,
        "",
        ...verdict,
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
    const text = versionTable(policies, activation, io.nowMs(), columns);
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
    const [{ name: before, policy: first }, { name: after, policy: second }] = await troubleAbove1(bothPolicies(call));
    const changes = jsonDiff(first, second);
    const where = { path, asn, country };
    const cells = decisionsGrid(first, second, where);
    const same = changes.length === 0;
    const json = { before, after, same, changes, path, decisions: cells };
    if (same) return { json, text: `${before} and ${after} are the same policy.` };
    const changed = cells.filter(isChanged).length;
    const draws = drawnShare(first, where) > 0 || drawnShare(second, where) > 0;
    const text = [
      `${before} -> ${after}: ${counted(changes.length, "field")} of the policy differ${changes.length === 1 ? "s" : ""}.`,
      verdictText(after, second, where),
      "",
      table(
        ["field", "change"],
        changes.map((change) => [change.pointer, changeText(change)]),
        call.columns,
      ),
      "",
      `Of ${count(cells.length)} answers on ${path}${draws ? " to clients that are not drawn" : ""}, ${changed === 0 ? "none would change." : `${count(changed)} would change (->):`}`,
      "",
      gridText(cells, call.columns),
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

/** For longer lists of numbers, only the length is shown. */
const LIST_SHOWN = 8;
/** Longer lists and objects are shown by what they have. */
const VALUE_WIDTH = 32;

/** One change as `before -> after`. For a long list, how much of it changed. */
export function changeText({ before, after }: JsonChange): string {
  if (isLong(before) && isLong(after) && before.length === after.length) return differenceText(before, after);
  return `${valueText(before)} -> ${valueText(after)}`;
}

function differenceText(before: readonly number[], after: readonly number[]): string {
  const differences = before.flatMap((value, i) => {
    const other = after[i] ?? value;
    // Relative to the larger value, so that a change from 0 has a size too.
    return value === other ? [] : [Math.abs(value - other) / Math.max(Math.abs(value), Math.abs(other))];
  });
  return `${count(before.length)} numbers, ${count(differences.length)} differ, by at most ${percent(Math.max(...differences))}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return "-";
  if (isLong(value)) return counted(value.length, "number");
  if (typeof value === "object" && value !== null && JSON.stringify(value).length > VALUE_WIDTH)
    return Array.isArray(value) ? counted(value.length, "item") : `{ ${printable(Object.keys(value).join(", "))} }`;
  return printable(JSON.stringify(value));
}

function isLong(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > LIST_SHOWN && value.every((item) => typeof item === "number");
}
