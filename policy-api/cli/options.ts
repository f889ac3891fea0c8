import { isIP } from "node:net";
import { parseArgs } from "node:util";
import { misused, nearest } from "./failure.ts";
import { TARGETS } from "../decision/compiled/targets.ts";
import { SCOPES } from "../api/contract/access.ts";
import { TRANSPORTS } from "../decision/sample.ts";

/** Reads the value of an option or an argument. Throws a Failure that names the option. */
export type Read<T> = (text: string, option: string) => T;

/** Applies a function to a value, if there is one. */
export function ifGiven<V, T>(value: V | undefined, then: (value: V) => T): T | undefined {
  return value === undefined ? undefined : then(value);
}

/** For a text that is not what it must be. */
function mustBe(what: string, option: string, text: string): Error {
  return misused(`${option} must ${what}, and is ${JSON.stringify(text)}.`);
}

const readText: Read<string> = (text) => text;

/** A share or a ratio: `5%` or 0.05. A bare 1 or 5 is refused, as it could be either. */
export const readShare: Read<number> = (text, option) => {
  const inPercent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1];
  // Not by division: 2.9 / 100 is not 0.029.
  const share = inPercent === undefined ? Number(text) : Number(`${inPercent}e-2`);
  const isPlain = inPercent !== undefined || /^0(\.\d+)?$|^\.\d+$/.test(text);
  if (!isPlain || !(share >= 0 && share <= 1))
    throw mustBe("be a share such as 5% or 0.05, from 0% to 100%", option, text);
  return share;
};

/** A number from 0 to this. */
export function numberUpTo(max: number): Read<number> {
  return (text, option) => {
    const value = /^\d+(\.\d+)?(e\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    if (!(value <= max)) throw mustBe(`be a number from 0 to ${max}`, option, text);
    return value;
  };
}

/** How many: 2500000, 2.5M, 800k. Up to a trillion. */
const readAmount: Read<number> = (text, option) => {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
  const value = Number(digits) * { "": 1, k: 1e3, M: 1e6, G: 1e9 }[unit as "" | "k" | "M" | "G"];
  if (!(value >= 1 && value <= 1e12)) throw mustBe("be a number such as 2500000, 800k or 2.5M", option, text);
  return value;
};

export function whole(min: number, max: number): Read<number> {
  return (text, option) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw mustBe(`be a whole number from ${min} to ${max}`, option, text);
    return value;
  };
}

/** The number of a version of the policy. Version 0 is the initial one. */
export const readVersion = whole(0, Number.MAX_SAFE_INTEGER);

export const readPath: Read<string> = (text, option) => {
  if (!text.startsWith("/")) throw mustBe("begin with a slash", option, text);
  return text;
};

const readHost: Read<string> = (text, option) => {
  if (!/^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(text))
    throw mustBe("be a host name such as www.example.com", option, text);
  return text;
};

const readAddress: Read<string> = (text, option) => {
  if (isIP(text) === 0) throw mustBe("be an IPv4 or IPv6 address", option, text);
  return text;
};

/** Over plain http only what is on this machine is asked. */
export const readServiceUrl: Read<string> = (text, option) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.hostname === "localhost" || url?.hostname === "127.0.0.1";
  if (url?.protocol !== "https:" && !(url?.protocol === "http:" && isLocal))
    throw mustBe("be an address such as https://dns.example/dns-query", option, text);
  return url.href;
};

export function oneOf<const T extends string>(allowed: readonly T[]): Read<T> {
  return (text, option) => {
    const found = allowed.find((one) => one === text);
    if (found === undefined) throw mustBe(`be ${allowed.join(" or ")}`, option, text);
    return found;
  };
}

const FLAG = "flag";

/** Every option of every command, and how its value is read. An option means the same wherever it is taken. */
const OPTIONS = {
  help: FLAG,
  json: FLAG,
  yes: FLAG,
  url: readText,
  "token-file": readText,
  ca: readText,
  note: readText,
  limit: whole(1, 100),
  before: readVersion,
  share: readShare,
  path: readPath,
  client: readAddress,
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
  "dry-run": FLAG,
  "page-views": readAmount,
  port: whole(0, 65_535),
} as const;

export type OptionName = keyof typeof OPTIONS;
const NAMES = Object.keys(OPTIONS) as OptionName[];
export type Options = {
  readonly [Name in OptionName]?: (typeof OPTIONS)[Name] extends Read<infer T> ? T : boolean;
};
/** What every command takes. */
const GLOBAL_OPTIONS = ["help", "json", "url", "token-file", "ca"] as const satisfies readonly OptionName[];

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
const ALSO_OF_NPM: ReadonlySet<string> = new Set([
  "help",
  "json",
  "yes",
  "version",
  "scope",
  "ca",
  "before",
  "dry-run",
]);

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

/** The options that choose a page of a list. */
export const PAGE_OPTIONS = ["limit", "before"] as const satisfies readonly OptionName[];
export type PageOptions = Pick<Options, (typeof PAGE_OPTIONS)[number]>;

/** Says how to see the next page. */
export function nextPageText(next: number | null): string {
  return next === null ? "" : `\n\nOlder ones: --before ${next}`;
}
