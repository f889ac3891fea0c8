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
  readonly origin?: URL;
  /** Which TLS edge sets the client addresses. With `none` a visitor could forge them, so they are not used. */
  readonly edge: "cloudflare" | "adaptive-h3" | "none";
  /** How answers reach browsers. */
  readonly actuator: Actuator;
  /** A host without HTTP/3 that serves files of pages, too. Undefined: pages stay as they are. */
  readonly assets?: Assets;
  /** How long a response may wait after the origin's headers, milliseconds. */
  readonly budgetMs: number;
  /** Over how many objects the clients of a region are spread. */
  readonly objectsPerRegion: number;
  /** Whether the log gets one line of JSON for each decision. */
  readonly logDecisions: boolean;
  /** Whether each page is told what was decided for it, in `Server-Timing`. */
  readonly announceDecisions: boolean;
  /** An isolate tells what it counted at most once in this time, milliseconds. */
  readonly flushCountsMs: number;
  /** What clients' names are hashed with, 32 bytes. Undefined: with a key that the store draws. */
  readonly clientKey?: ArrayBuffer;
  /** Who may call the API. */
  readonly tokens: readonly Token[];
  /** Whose scripts may call the API from a browser. */
  readonly apiOrigins: readonly string[];
}

export interface SettingsFault {
  readonly name: string;
  readonly message: string;
}

/** The variables as the environment has them: text, or absent. */
export interface SettingsSource {
  readonly ORIGIN?: string | null;
  readonly EDGE?: string | null;
  readonly ACTUATOR?: string | null;
  readonly ASSETS?: string | null;
  readonly BUDGET_MS?: string | null;
  readonly OBJECTS_PER_REGION?: string | null;
  readonly LOG_DECISIONS?: string | null;
  readonly TELL_DECISIONS?: string | null;
  /** Secret. */
  readonly CLIENT_KEY?: string | null;
  /** Secret. */
  readonly POLICY_TOKENS?: string | null;
  readonly API_ORIGINS?: string | null;
}

/** The names that wrangler.toml may set. Secrets are not among them. */
export const VARIABLES: readonly string[] = [
  "ORIGIN",
  "EDGE",
  "ACTUATOR",
  "ASSETS",
  "BUDGET_MS",
  "OBJECTS_PER_REGION",
  "LOG_DECISIONS",
  "TELL_DECISIONS",
  "API_ORIGINS",
];

const DEFAULTS: Settings = {
  edge: "cloudflare",
  actuator: "header",
  budgetMs: 5,
  objectsPerRegion: 32,
  logDecisions: false,
  announceDecisions: false,
  flushCountsMs: 20_000,
  tokens: [],
  apiOrigins: [],
};
const EDGES = ["cloudflare", "adaptive-h3", "none"] as const;

/**
 * Reads the variables. A bad one gives a fault with its name, and its default: a worker that is already serving has to
 * go on.
 */
export function readSettings(source: SettingsSource): { settings: Settings; faults: SettingsFault[] } {
  const faults: SettingsFault[] = [];
  const read = <T>(
    name: keyof SettingsSource,
    fallback: T,
    what: string,
    parse: (text: string) => T | undefined,
  ): T => {
    const given = source[name];
    // workerd gives null for a variable that is not in its environment.
    if (given === undefined || given === null || given === "") return fallback;
    const value = parse(given);
    if (value !== undefined) return value;
    faults.push({ name, message: `must be ${what}` });
    return fallback;
  };
  const origin = read<URL | undefined>("ORIGIN", undefined, "an http or https URL without a path", (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const plain = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
    return plain && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
  });
  const { tokens, faults: tokenFaults } = parseTokens(source.POLICY_TOKENS ?? "");
  faults.push(...tokenFaults.map((message) => ({ name: "POLICY_TOKENS", message: `has a fault: ${message}` })));
  const clientKey = read<ArrayBuffer | undefined>("CLIENT_KEY", undefined, "32 bytes as base64", keyBytes);
  const assets = read<Assets | undefined>(
    "ASSETS",
    undefined,
    "an https URL without a path, and what paths of files begin with, such as https://files.example.com /static/",
    (text) => {
      const [host = "", ...paths] = text.split(/\s+/).filter(Boolean);
      const isHost = URL.canParse(host) && new URL(host).protocol === "https:" && new URL(host).origin === host;
      return isHost && paths.length > 0 && paths.every((path) => path.startsWith("/"))
        ? { origin: host, paths }
        : undefined;
    },
  );
  const settings: Settings = {
    ...(assets === undefined ? {} : { assets }),
    ...(origin === undefined ? {} : { origin }),
    ...(clientKey === undefined ? {} : { clientKey }),
    edge: read("EDGE", DEFAULTS.edge, `one of ${EDGES.join(", ")}`, (text) => EDGES.find((edge) => edge === text)),
    actuator: read("ACTUATOR", DEFAULTS.actuator, `one of ${ACTUATORS.join(", ")}`, (text) =>
      ACTUATORS.find((actuator) => actuator === text),
    ),
    budgetMs: read("BUDGET_MS", DEFAULTS.budgetMs, "a whole number from 0 to 1000", whole(0, 1000)),
    objectsPerRegion: read(
      "OBJECTS_PER_REGION",
      DEFAULTS.objectsPerRegion,
      "a whole number from 1 to 10000",
      whole(1, 10_000),
    ),
    logDecisions: read<boolean>("LOG_DECISIONS", DEFAULTS.logDecisions, "on or off", onOrOff),
    announceDecisions: read<boolean>("TELL_DECISIONS", DEFAULTS.announceDecisions, "on or off", onOrOff),
    flushCountsMs: DEFAULTS.flushCountsMs,
    tokens,
    apiOrigins: read<readonly string[]>(
      "API_ORIGINS",
      DEFAULTS.apiOrigins,
      "origins such as https://console.example.com, separated by commas",
      (text) => {
        const origins = text.split(/[\s,]+/).filter(Boolean);
        return origins.every((each) => URL.canParse(each) && new URL(each).origin === each) ? origins : undefined;
      },
    ),
  };
  // Only Cloudflare has routes. Elsewhere the visitor's Host header would choose what is fetched.
  if (settings.origin === undefined && settings.edge !== "cloudflare" && !faults.some(({ name }) => name === "ORIGIN"))
    faults.push({ name: "ORIGIN", message: "is missing: it must be an http or https URL without a path" });
  return { settings, faults };
}

function onOrOff(text: string): boolean | undefined {
  return text === "on" ? true : text === "off" ? false : undefined;
}

function keyBytes(text: string): ArrayBuffer | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer;
}

function whole(min: number, max: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
}
