import { MARKER_HEADER } from "../policy-api/core/alt-svc.ts";
import type { Actuator } from "../policy-api/core/alt-svc.ts";
import { LimitedLog } from "./limited-log.ts";
import type { Isolate } from "./isolate.ts";
import type { Settings } from "./settings.ts";

/**
 * Fetches what the visitor asked for: from ORIGIN, or through the worker's route.
 *
 * The visitor follows redirects, not the worker. If the origin cannot be reached, the visitor gets a 502, as from any
 * proxy. The origin is asked only once: passThroughOnException would send a POST again, without its body. If the stream
 * breaks later, it breaks for the visitor too.
 *
 * @param visited The request's URL, parsed once.
 */
export async function fetchOrigin(
  request: Request,
  visited: URL,
  { settings, origin: reach }: Pick<Isolate, "settings" | "origin">,
): Promise<Response> {
  const { origin, edge, actuator } = settings;
  try {
    // Only Cloudflare has routes. Elsewhere the visitor's Host header would choose what is fetched.
    if (origin === undefined && edge !== "cloudflare") throw new Error("ORIGIN is not set");
    const response = await (origin === undefined ? fetch(request) : fetchFrom(origin, request, visited, edge));
    reach.answered();
    return without(response, (origin === undefined ? ROUTED_OFFERS : OFFERS)[actuator]);
  } catch (error) {
    reach.failed(Date.now());
    errorLog.write(error);
    return new Response("Bad gateway: the origin does not answer.\n", {
      status: 502,
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
        // Our TLS edge then asks the origin itself, where that is safe: this process may only be out of descriptors.
        ...(edge === "adaptive-h3" ? { [UNREACHED_HEADER]: "1" } : {}),
      },
    });
  }
}

/** Says that this 502 is the worker's own. The edge removes it (infra/edge/internal/origin). */
const UNREACHED_HEADER = "adaptive-h3-unreached";

const errorLog = new LimitedLog("The origin does not answer");

function fetchFrom(origin: URL, request: Request, visited: URL, edge: Settings["edge"]): Promise<Response> {
  const asked = new Request(origin.origin + visited.pathname + visited.search, request);
  // The origin sees its own name as Host. Our TLS edge has already set the name that the visitor used.
  if (edge !== "adaptive-h3") asked.headers.set("x-forwarded-host", visited.host);
  return fetch(asked, { redirect: "manual" });
}

/**
 * Headers in which an origin could offer HTTP/3 beside the decisions made here. Its own Alt-Svc names its own ports, and would outlive
 * them; behind a route Cloudflare removes it.
 */
const ROUTED_OFFERS = { header: [], marker: [MARKER_HEADER] } as const satisfies Record<Actuator, readonly string[]>;
const OFFERS = { header: ["alt-svc"], marker: ["alt-svc", MARKER_HEADER] } as const satisfies Record<
  Actuator,
  readonly string[]
>;

function without(response: Response, names: readonly string[]): Response {
  if (!names.some((name) => response.headers.has(name)) || !mayRebuild(response)) return response;
  const own = new Response(response.body, response);
  for (const name of names) own.headers.delete(name);
  return own;
}

/** Whether another response can be made of it: the runtime passes on a status above 599, and makes none. */
export function mayRebuild({ status }: Response): boolean {
  return status <= 599;
}
