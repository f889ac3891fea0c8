import { MARKER_HEADER } from "../policy-api/decision/alt-svc.ts";
import { endAtLength } from "./end-at-length.ts";
import { LimitedLog } from "./log.ts";
import type { Settings } from "./settings.ts";

/**
 * Fetches what the visitor asked for: from ORIGIN, or through the worker's route.
 *
 * The visitor follows redirects, not the worker. If the origin cannot be reached, the visitor gets a 502, as from any
 * proxy. If there is none, a 500 says what to set. The origin is asked only once: passThroughOnException would send a POST again,
 * without its body. If the stream breaks later, it breaks for the visitor too.
 *
 * @param visited The request's URL, parsed once.
 */
export async function fetchOrigin(
  request: Request,
  visited: URL,
  { settings, origin: reach }: { readonly settings: Settings; readonly origin: OriginReach },
): Promise<Response> {
  const { origin, edge } = settings;
  if (origin === undefined && !mayBeRouted(visited, edge)) {
    noOriginLog.write("ORIGIN is not set");
    return answerFor(500, NO_ORIGIN, reach, edge);
  }
  try {
    const response = await (origin === undefined ? fetch(request) : fetchFrom(origin, request, visited, edge));
    reach.answered();
    if (!mayRebuild(response)) return response;
    return withoutOffers(endAtLength(response), settings);
  } catch (error) {
    errorLog.write(error);
    return answerFor(502, "Bad gateway: the origin does not answer.\n", reach, edge);
  }
}

/** What the visitor gets in the origin's place. */
function answerFor(status: number, text: string, reach: OriginReach, edge: Settings["edge"]): Response {
  reach.failed(Date.now());
  return new Response(text, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      // Our TLS edge then asks the origin itself, where that is safe: this process may only be out of descriptors.
      ...(edge === "adaptive-h3" ? { [UNREACHED_HEADER]: "1" } : {}),
    },
  });
}

const NO_ORIGIN = `500: this worker has no origin. Set the variable ORIGIN to the URL of your site, in wrangler.toml or as in
  npx wrangler dev --upstream-protocol https --var ORIGIN:http://127.0.0.1:3000
or give the worker a route on Cloudflare. \`npm run dev\` starts it with a site.
`;

/**
 * Whether a route can have brought the request here, so that `fetch` leads to the origin. Only Cloudflare has routes: elsewhere the
 * visitor's Host header would choose what is fetched. And no zone has an address, localhost or a name of workers.dev: there the worker
 * would ask itself, until its descriptors were gone (`wrangler dev` ended after 18 s).
 */
function mayBeRouted({ hostname }: URL, edge: Settings["edge"]): boolean {
  return (
    edge === "cloudflare" && /\.[a-z][^.]*\.?$/.test(hostname) && !/\.(?:localhost|workers\.dev)\.?$/.test(hostname)
  );
}

/** Says that this answer is the worker's own. The edge removes it (infra/edge/internal/origin). */
const UNREACHED_HEADER = "adaptive-h3-unreached";

const errorLog = new LimitedLog("The origin does not answer");
const noOriginLog = new LimitedLog("There is no origin");

function fetchFrom(origin: URL, request: Request, visited: URL, edge: Settings["edge"]): Promise<Response> {
  const asked = new Request(origin.origin + visited.pathname + visited.search, request);
  // The origin sees its own name as Host. Our TLS edge has already set the name that the visitor used.
  if (edge !== "adaptive-h3") asked.headers.set("x-forwarded-host", visited.host);
  return fetch(asked, { redirect: "manual" });
}

/**
 * Without the headers in which an origin could offer HTTP/3 beside the decisions made here. Its own Alt-Svc names its own ports, and would
 * outlive them; behind a route Cloudflare removes it.
 */
function withoutOffers(response: Response, { origin, actuator }: Settings): Response {
  const drops = (name: string): boolean =>
    response.headers.has(name) && (name === "alt-svc" ? origin !== undefined : actuator === "marker");
  if (!drops("alt-svc") && !drops(MARKER_HEADER)) return response;
  const own = new Response(response.body, response);
  for (const name of ["alt-svc", MARKER_HEADER]) if (drops(name)) own.headers.delete(name);
  return own;
}

/** Whether another response can be made of it: the runtime passes on a status above 599, and makes none. */
export function mayRebuild({ status }: Response): boolean {
  return status <= 599;
}

/** How long the origin may fail every request before the health says so, milliseconds. A restart of an origin takes less. */
const LOST_MS = 60_000;

/** Whether the origin answers this isolate. The edge may answer in its place, so that visitors see nothing (infra/edge/internal/origin). */
export class OriginReach {
  #sinceMs: number | undefined;
  #lastMs = 0;

  answered(): void {
    this.#sinceMs = undefined;
  }

  failed(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#lastMs = nowMs;
  }

  /** Whether requests came for a minute or longer, and the origin answered none of them. */
  get isLost(): boolean {
    return this.#sinceMs !== undefined && this.#lastMs - this.#sinceMs >= LOST_MS;
  }
}
