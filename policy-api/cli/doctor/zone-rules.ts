import { MARKER_HEADER } from "../../decision/alt-svc.ts";

/** A route of a zone, as its API has it. Without a script it keeps its requests away from workers. */
export interface Route {
  readonly pattern: string;
  readonly script?: string;
}

/** What a rule does to one response header, as the zone's API has it. */
interface HeaderChange {
  readonly operation: string;
  readonly value?: string;
  readonly expression?: string;
}

/** A rule of the phase `http_response_headers_transform`. */
export interface Rule {
  readonly enabled?: boolean;
  readonly action_parameters?: { readonly headers?: Readonly<Record<string, HeaderChange>> };
}

/**
 * Whether a URL passes a worker: by the most specific pattern that matches it, which is the longest here. `*` stands for any text.
 * Pure.
 */
export function passesWorker(
  url: Readonly<Record<"host" | "pathname" | "search", string>>,
  routes: readonly Route[],
): boolean {
  const text = url.host + url.pathname + url.search;
  const matching = routes
    .filter(({ pattern }) => patternOf(pattern).test(text))
    .toSorted((one, other) => other.pattern.length - one.pattern.length);
  return (matching[0]?.script ?? "") !== "";
}

function patternOf(pattern: string): RegExp {
  const bare = pattern.replace(/^https?:\/\//, "");
  const [host = "", ...path] = bare.split("/");
  const whole = path.length === 0 ? `${host}/` : bare;
  const literal = whole.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join(".*")}$`, "i");
}

/**
 * What the rules of a zone make of Alt-Svc. `marker`: the last rule that changes it takes it from the marker. `other`: another one does.
 * `none`: no rule changes it. Conditions of rules are not looked at. Pure.
 */
export function altSvcRules(rules: readonly Rule[]): "marker" | "other" | "none" {
  const changes = rules.flatMap(({ enabled, action_parameters: does }) =>
    enabled === false ? [] : Object.entries(does?.headers ?? {}),
  );
  const last = changes.findLast(([name]) => name.toLowerCase() === "alt-svc")?.[1];
  if (last === undefined) return "none";
  return last.expression?.includes(`"${MARKER_HEADER}"`) === true ? "marker" : "other";
}
