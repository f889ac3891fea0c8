import { MARKER_HEADER } from "../alt-svc.ts";

/** What a rule of Cloudflare's phases for headers does to one. */
export type HeaderChange =
  | { readonly operation: "remove" }
  | { readonly operation: "set"; readonly value: string }
  /** Where the expression has no value, the header is removed. */
  | { readonly operation: "set"; readonly expression: string }
  /** Beside the header's other values. */
  | { readonly operation: "add"; readonly value: string };

/** One rule, as Cloudflare's Rulesets API takes it. */
export function transform(
  description: string,
  expression: string,
  headers: Readonly<Record<string, HeaderChange>>,
): object {
  return {
    description: `adaptive-h3, ${description}`,
    expression,
    action: "rewrite",
    action_parameters: { headers },
    enabled: true,
  };
}

/** Cloudflare's parser knows no bare `true`. */
const EVERYTHING = 'http.request.version ne ""';

/** The responses that rules are for: one host's, or all of the zone. */
export function responsesOf(host?: string): string {
  return host === undefined ? EVERYTHING : `http.host eq "${host}"`;
}

/** The phase of rules that change response headers. */
export const PHASE = "http_response_headers_transform";
/** The phase of rules that change request headers, before a worker runs. */
export const REQUEST_PHASE = "http_request_late_transform";

/** The rules of a phase, as the body of the call that sets them. */
export interface Ruleset {
  readonly phase: typeof PHASE | typeof REQUEST_PHASE;
  readonly rules: string;
}

/**
 * The same rules for Terraform, in its JSON syntax: resources of Cloudflare's provider, version 5, which takes rules as the Rulesets API does.
 * The variable `zone_id` says which zone. Nothing in the rules reads as a template of Terraform.
 */
export function terraformOf(rulesets: readonly Ruleset[]): string {
  const resources = rulesets.map(({ phase, rules }) => [
    phase === PHASE ? "adaptive_h3" : "adaptive_h3_reports",
    { zone_id: "${var.zone_id}", name: "adaptive-h3", kind: "zone", phase, ...(JSON.parse(rules) as object) },
  ]);
  const file = {
    variable: { zone_id: { type: "string" } },
    resource: { cloudflare_ruleset: Object.fromEntries(resources) as object },
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

/** The body of a call that sets the rules of a phase. */
export function rulesJson(rules: readonly object[]): string {
  return `${JSON.stringify({ rules }, undefined, 2)}\n`;
}

/**
 * The rules by which a worker with ACTUATOR = "marker" acts: its marker becomes Alt-Svc, and visitors do not get it. On a response
 * without a marker every Alt-Svc is taken away: on images that pass no worker, too. Pure.
 *
 * @param host The only host that they are for. Undefined: all of the zone.
 */
export function markerRules(host?: string): string {
  const where = responsesOf(host);
  return rulesJson([
    transform("the worker's answer as Alt-Svc", where, {
      "Alt-Svc": { operation: "set", expression: `http.response.headers["${MARKER_HEADER}"][0]` },
    }),
    transform("no marker", where, { [MARKER_HEADER]: { operation: "remove" } }),
  ]);
}
