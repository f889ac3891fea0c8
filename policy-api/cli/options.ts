import { parseArgs } from "node:util";
import { nearestName } from "../core/nearest.ts";
import { misused } from "./failure.ts";

/** Every option of every command: an option means the same kind of thing wherever it is taken. */
const OPTIONS = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  url: { type: "string" },
  "token-file": { type: "string" },
  ca: { type: "string" },
  yes: { type: "boolean" },
  note: { type: "string" },
  limit: { type: "string" },
  before: { type: "string" },
  share: { type: "string" },
  path: { type: "string" },
  client: { type: "string" },
  network: { type: "string" },
  transport: { type: "string" },
  rtt: { type: "string" },
  loss: { type: "string" },
  rate: { type: "string" },
  packets: { type: "string" },
  asn: { type: "string" },
  country: { type: "string" },
  policy: { type: "string" },
  version: { type: "string" },
  scope: { type: "string" },
  out: { type: "string" },
  rotate: { type: "boolean" },
} as const;

export type OptionName = keyof typeof OPTIONS;
/** What every command takes. */
export const GLOBAL_OPTIONS = ["help", "json", "url", "token-file", "ca"] as const satisfies readonly OptionName[];

export type Options = {
  readonly [Name in OptionName]?: (typeof OPTIONS)[Name]["type"] extends "boolean" ? boolean : string;
};

export interface Line {
  /** The command and its arguments. */
  readonly words: readonly string[];
  readonly options: Options;
}

/** Reads a command line. Options may stand anywhere; none may come twice. @throws Failure */
export function readLine(argv: readonly string[]): Line {
  const { tokens } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const words: string[] = [];
  const options: Record<string, string | boolean> = {};
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    if (name === "token")
      throw misused(
        "A token is never taken from the command line, where ps shows it to everybody on this machine: " +
          "set H3_TOKEN, or give the name of a file with --token-file or H3_TOKEN_FILE.",
      );
    if (!isOption(name)) throw misused(unknownOption(rawName, Object.keys(OPTIONS)));
    if (Object.hasOwn(options, name)) throw misused(`${rawName} is there twice.`);
    if (OPTIONS[name].type === "boolean") {
      if (value !== undefined) throw misused(`${rawName} takes no value.`);
      options[name] = true;
    } else {
      // `--note --yes` is a value that was forgotten; one that begins so is written --note=--yes.
      const isForgotten = value === undefined || value === "" || (!token.inlineValue && value.startsWith("-"));
      if (isForgotten) throw misused(`${rawName} wants a value.`);
      options[name] = value;
    }
  }
  return { words, options };
}

/** Options that npm knows too: whether it took one of them, or always has it, cannot be told. */
const ALSO_OF_NPM: ReadonlySet<string> = new Set(["help", "json", "yes", "version", "scope", "ca", "before"]);

/** Refuses a line of which npm took options for itself, as no `--` was before them: what is left means something else. @throws Failure */
export function refuseEaten(env: Readonly<Record<string, string | undefined>>): void {
  if (env["npm_lifecycle_event"] !== "policy") return;
  const eaten = Object.keys(OPTIONS).filter(
    (name) => !ALSO_OF_NPM.has(name) && env[`npm_config_${name.replaceAll("-", "_")}`] !== undefined,
  );
  if (eaten.length > 0)
    throw misused(
      `npm took ${eaten.map((name) => `--${name}`).join(", ")} for itself: a -- goes before the command, as in \`npm run policy -- status\`.`,
    );
}

/** Says no to options that a command does not take. @throws Failure */
export function requireOnly(options: Options, taken: readonly OptionName[], command: string): void {
  const known: readonly OptionName[] = [...GLOBAL_OPTIONS, ...taken];
  for (const name of Object.keys(options) as OptionName[])
    if (!known.includes(name))
      throw misused(`\`${command}\` takes no --${name}; it takes ${known.map((option) => `--${option}`).join(", ")}.`);
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const nearest = nearestName(rawName.replace(/^-+/, ""), known);
  return `There is no option ${rawName}${nearest === undefined ? "" : `: --${nearest}?`}`;
}
