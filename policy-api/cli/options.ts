import { parseArgs } from "node:util";
import { TARGETS } from "../decision/compiled/targets.ts";
import { HOURS_KEPT } from "../api/counters/counted.ts";
import { SCOPES } from "../api/contract/access.ts";
import { TRANSPORTS } from "../decision/sample.ts";
import { misused, nearest } from "./failure.ts";
import {
  numberUpTo,
  oneOf,
  type Read,
  readAmount,
  readHost,
  readPath,
  readServiceUrl,
  readShare,
  readText,
  readVersion,
  whole,
} from "./values.ts";

const FLAG = "flag";

/** Every option of every command, and how its value is read. An option means the same wherever it is taken. */
const OPTIONS = {
  help: FLAG,
  json: FLAG,
  yes: FLAG,
  rotate: FLAG,
  push: FLAG,
  url: readText,
  "token-file": readText,
  ca: readText,
  note: readText,
  limit: whole(1, 100),
  before: readVersion,
  share: readShare,
  path: readPath,
  client: readText,
  network: readText,
  transport: oneOf(TRANSPORTS),
  rtt: numberUpTo(3_600_000),
  loss: readShare,
  rate: numberUpTo(1.25e13),
  packets: numberUpTo(1e12),
  asn: whole(0, 4_294_967_295),
  country: (text: string) => text.toUpperCase(),
  policy: readText,
  version: readVersion,
  scope: oneOf(SCOPES),
  out: readText,
  to: oneOf(TARGETS),
  host: readHost,
  resolver: readServiceUrl,
  reports: FLAG,
  terraform: FLAG,
  "page-views": readAmount,
  hours: whole(1, HOURS_KEPT),
  every: whole(1, 3_600),
  port: whole(0, 65_535),
} as const;

export type OptionName = keyof typeof OPTIONS;
const NAMES = Object.keys(OPTIONS) as OptionName[];
export type Options = {
  readonly [Name in OptionName]?: (typeof OPTIONS)[Name] extends Read<infer T> ? T : boolean;
};
/** What every command takes. */
export const GLOBAL_OPTIONS = ["help", "json", "url", "token-file", "ca"] as const satisfies readonly OptionName[];

/** Reads a command line: the command with its arguments, and options. Options may stand anywhere; none may come twice. @throws Failure */
export function readLine(argv: readonly string[]): { words: readonly string[]; options: Options } {
  const { tokens } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(NAMES.map((name) => [name, { type: OPTIONS[name] === FLAG ? "boolean" : "string" }])),
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const words: string[] = [];
  const options: Record<string, unknown> = {};
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName, value } = token;
    if (token.name === "token")
      throw misused(
        "A token is never taken from the command line, where ps shows it to everybody on this machine: " +
          "set H3_TOKEN, or give the name of a file with --token-file or H3_TOKEN_FILE.",
      );
    const name = NAMES.find((known) => known === token.name);
    if (name === undefined)
      throw misused(`There is no option ${rawName}${nearest(rawName.replace(/^-+/, ""), NAMES, "--")}`);
    if (name in options) throw misused(`${rawName} is there twice.`);
    const read = OPTIONS[name];
    // In `--note --yes` the value was forgotten. A value that begins with a dash is written --note=--yes.
    const isForgotten = value === undefined || value === "" || (!token.inlineValue && value.startsWith("-"));
    if (read === FLAG && value !== undefined) throw misused(`${rawName} takes no value.`);
    if (read !== FLAG && isForgotten) throw misused(`${rawName} wants a value.`);
    options[name] = read === FLAG ? true : read(value ?? "", rawName);
  }
  return { words, options };
}

/** Options that npm has too. Nothing tells whether npm took such an option from the line or always has it. */
const ALSO_OF_NPM: ReadonlySet<string> = new Set(["help", "json", "yes", "version", "scope", "ca", "before"]);

/** Refuses a line from which npm took options, as no `--` stood before them: the rest means something else. @throws Failure */
export function refuseEaten(env: Readonly<Record<string, string | undefined>>): void {
  if (env["npm_lifecycle_event"] !== "policy") return;
  const eaten = NAMES.filter(
    (name) => !ALSO_OF_NPM.has(name) && env[`npm_config_${name.replaceAll("-", "_")}`] !== undefined,
  );
  if (eaten.length > 0)
    throw misused(
      `npm took ${eaten.map((name) => `--${name}`).join(", ")} for itself: a -- goes before the command, as in \`npm run policy -- status\`.`,
    );
}

/** Refuses options that a command does not take. @throws Failure */
export function requireOnly(options: Options, taken: readonly OptionName[], command: string): void {
  const known: readonly OptionName[] = [...GLOBAL_OPTIONS, ...taken];
  for (const name of Object.keys(options) as OptionName[])
    if (!known.includes(name))
      throw misused(`\`${command}\` takes no --${name}; it takes ${known.map((option) => `--${option}`).join(", ")}.`);
}
