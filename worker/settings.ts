import { parseTokens, type Token } from "../policy-api/api/tokens.ts";
import { type Actuator, ACTUATORS } from "../policy-api/decision/alt-svc.ts";

/** Files of pages that another host serves, too. */
export interface Assets {
  /** Such as `https://files.example.com`. */
  readonly origin: string;
  /** What their paths begin with. */
  readonly paths: readonly string[];
}

/** The variables of a deployment, read once. */
export interface Settings {
  /** Where pages come from. Undefined if the worker has a route, so that `fetch(request)` reaches the origin. */
  readonly origin?: URL | undefined;
  /** Which TLS edge sets the client addresses. With `none` a visitor could forge them, so they are not used. */
  readonly edge: "cloudflare" | "adaptive-h3" | "none";
  /** How answers reach browsers. */
  readonly actuator: Actuator;
  /** A host without HTTP/3 that serves files of pages, too. Undefined: pages stay as they are. */
  readonly assets?: Assets | undefined;
  /** How long a response may wait after the origin's headers, milliseconds. */
  readonly budgetMs: number;
  /** Over how many objects the clients of a region are spread. */
  readonly objectsPerRegion: number;
  /** Whether the log gets one line of JSON for each decision. */
  readonly logDecisions: boolean;
  /** Whether each response says what was decided for it, in `Server-Timing`. */
  readonly announceDecisions: boolean;
  /** An isolate flushes what it counted at most once in this time, milliseconds. */
  readonly flushCountsMs: number;
  /** What clients' names are hashed with, 32 bytes. Undefined: with a key that the store draws. */
  readonly clientKey?: ArrayBuffer | undefined;
  /** Who may call the API. */
  readonly tokens: readonly Token[];
  /** The host on whose reports rules of its zone write the arm. Undefined: on none, so that a visitor may have written it. */
  readonly ruleArms?: string | undefined;
  /** Whose scripts may call the API from a browser. */
  readonly apiOrigins: readonly string[];
}

export interface SettingsFault {
  readonly name: string;
  readonly message: string;
}

/** How a variable is read. */
interface Variable<T> {
  /** What it must be. */
  readonly what: string;
  /** Undefined for what it must not be. */
  readonly parse: (text: string) => T | undefined;
}

const EDGES = ["cloudflare", "adaptive-h3", "none"] as const;
const ON_OR_OFF: Variable<boolean> = {
  what: "on or off",
  parse: (text) => (text === "on" ? true : text === "off" ? false : undefined),
};

/** Those that wrangler.toml may set, too. Secrets are not among them. */
const PLAIN = {
  ORIGIN: { what: "an http or https URL without a path", parse: originUrl },
  EDGE: oneOf(EDGES),
  ACTUATOR: oneOf(ACTUATORS),
  ASSETS: {
    what: "an https URL without a path, and what paths of files begin with, such as https://files.example.com /static/",
    parse: assetsOf,
  },
  BUDGET_MS: whole(0, 1000),
  OBJECTS_PER_REGION: whole(1, 10_000),
  LOG_DECISIONS: ON_OR_OFF,
  TELL_DECISIONS: ON_OR_OFF,
  RULE_ARMS: { what: "a host name such as www.example.com", parse: hostOf },
  API_ORIGINS: { what: "origins such as https://console.example.com, separated by commas", parse: originsOf },
} as const;
const CLIENT_KEY: Variable<ArrayBuffer> = { what: "32 bytes as base64", parse: keyBytes };

/** The names that wrangler.toml may set. */
export const VARIABLES: readonly string[] = Object.keys(PLAIN);

/** The variables as the environment has them: text, or absent. workerd gives null for one that is not in its environment. */
export type SettingsSource = Readonly<
  Partial<Record<keyof typeof PLAIN | "CLIENT_KEY" | "POLICY_TOKENS", string | null>>
>;

/**
 * Reads the variables. A bad one gives a fault with its name, and its default: a worker that is already serving has to
 * go on.
 */
export function readSettings(source: SettingsSource): { settings: Settings; faults: SettingsFault[] } {
  const faults: SettingsFault[] = [];
  const read = <T>(name: keyof SettingsSource, { what, parse }: Variable<T>): T | undefined => {
    const value = source[name] ? parse(source[name]) : undefined;
    if (source[name] && value === undefined) faults.push({ name, message: `must be ${what}` });
    return value;
  };
  const { tokens, faults: tokenFaults } = parseTokens(source.POLICY_TOKENS ?? "");
  faults.push(...tokenFaults.map((message) => ({ name: "POLICY_TOKENS", message: `has a fault: ${message}` })));
  const edge = read("EDGE", PLAIN.EDGE) ?? "cloudflare";
  const ruleArms = read("RULE_ARMS", PLAIN.RULE_ARMS);
  const hasRules = edge === "cloudflare";
  if (ruleArms !== undefined && !hasRules)
    faults.push({ name: "RULE_ARMS", message: "is for EDGE = cloudflare alone: no other edge has rules" });
  const settings: Settings = {
    origin: read("ORIGIN", PLAIN.ORIGIN),
    assets: read("ASSETS", PLAIN.ASSETS),
    clientKey: read("CLIENT_KEY", CLIENT_KEY),
    edge,
    actuator: read("ACTUATOR", PLAIN.ACTUATOR) ?? "header",
    budgetMs: read("BUDGET_MS", PLAIN.BUDGET_MS) ?? 5,
    objectsPerRegion: read("OBJECTS_PER_REGION", PLAIN.OBJECTS_PER_REGION) ?? 32,
    logDecisions: read("LOG_DECISIONS", PLAIN.LOG_DECISIONS) ?? false,
    announceDecisions: read("TELL_DECISIONS", PLAIN.TELL_DECISIONS) ?? false,
    // Cloudflare bills each call.
    flushCountsMs: edge === "cloudflare" ? 60_000 : 20_000,
    tokens,
    ruleArms: hasRules ? ruleArms : undefined,
    apiOrigins: read("API_ORIGINS", PLAIN.API_ORIGINS) ?? [],
  };
  // Only Cloudflare has routes. Elsewhere the visitor's Host header would choose what is fetched.
  if (settings.origin === undefined && settings.edge !== "cloudflare" && !faults.some(({ name }) => name === "ORIGIN"))
    faults.push({ name: "ORIGIN", message: `is missing: it must be ${PLAIN.ORIGIN.what}` });
  return { settings, faults };
}

function hostOf(text: string): string | undefined {
  return text.includes(".") && URL.parse(`https://${text}/`)?.hostname === text ? text : undefined;
}

function originUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  const isPlain = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  return isPlain && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

function assetsOf(text: string): Assets | undefined {
  const [origin = "", ...paths] = text.split(/\s+/).filter(Boolean);
  const isAbsolute = paths.length > 0 && paths.every((path) => path.startsWith("/"));
  return isAbsolute && isOrigin(origin) && origin.startsWith("https:") ? { origin, paths } : undefined;
}

function originsOf(text: string): readonly string[] | undefined {
  const origins = text.split(/[\s,]+/).filter(Boolean);
  return origins.every(isOrigin) ? origins : undefined;
}

function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text;
}

function keyBytes(text: string): ArrayBuffer | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer;
}

function oneOf<T extends string>(values: readonly T[]): Variable<T> {
  return { what: `one of ${values.join(", ")}`, parse: (text) => values.find((value) => value === text) };
}

function whole(min: number, max: number): Variable<number> {
  const parse = (text: string): number | undefined => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
  return { what: `a whole number from ${min} to ${max}`, parse };
}
