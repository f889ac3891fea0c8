import type { RequestFacts } from "../policy-api/decision/facts.ts";
import { type ClientAddress, clientAddress } from "./address.ts";
import type { Policy } from "../policy-api/decision/policy.ts";
import { type ConnectionFacts, connectionFacts } from "./cf.ts";
import type { Hasher } from "./hasher.ts";
import type { Isolate } from "./isolate.ts";
import type { CachedPolicy } from "./policy-cache.ts";
import { regionOf } from "./region.ts";
import { pathObject, type StoredClient, type Stores } from "./stores.ts";

/** A visitor's request, and what its steps share. */
export interface Visit {
  readonly request: Request;
  /** Parsed once. */
  readonly url: URL;
  readonly stores: Stores;
  readonly ctx: Pick<ExecutionContext, "waitUntil">;
  readonly isolate: Isolate;
  /**
   * When it came, milliseconds since the epoch. The period of assignment is that of this moment, so that a page at its end has the arm
   * and the period of one draw.
   */
  readonly atMs: number;
  readonly connection: ConnectionFacts;
  readonly facts: RequestFacts;
  /** Undefined where the address cannot be believed. */
  readonly address: ClientAddress | undefined;
}

export function visitOf(
  request: Request,
  url: URL,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
  isolate: Isolate,
): Visit {
  const atMs = Date.now();
  const connection = connectionFacts(request.cf, isolate.settings, atMs);
  const facts = { ...connection.facts, path: url.pathname };
  const address = connection.addressTrusted ? request.headers.get("cf-connecting-ip") : null;
  return {
    request,
    url,
    stores,
    ctx,
    isolate,
    atMs,
    connection,
    facts,
    address: address === null ? undefined : clientAddress(address),
  };
}

/** What the stores know the visitor by. Undefined without an address, or without a key to hash it with. */
export function storedClient(
  { isolate, address, connection }: Visit,
  cached: CachedPolicy | undefined,
): StoredClient | undefined {
  const hasher = isolate.namer(cached);
  if (address === undefined || hasher === undefined) return undefined;
  const { keys, object } = hasher.named(address, isolate.settings.objectsPerRegion, connection.facts);
  return { keys, object: pathObject(regionOf(connection), object) };
}

/** Whether an answer sends the browser on: the page that it asks for next is the one that the person asked for. */
export function leadsOn(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/**
 * Whether a person asks for a page with this request. That begins a session; everything else passes untouched.
 *
 * Browsers say it in Sec-Fetch-Dest (Fetch Metadata Request Headers, section 2.1). For older browsers and other clients
 * it counts whether they ask for HTML.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== "GET") return false;
  const { headers } = request;
  if (headers.has("upgrade")) return false;
  const destination = headers.get("sec-fetch-dest");
  if (destination !== null) return destination === "document";
  return headers.get("accept")?.includes("text/html") ?? false;
}

/** Whether the policy and the visitor let a page be asked to report. Where the policy asks none, that costs nothing. */
export function mayAsk(
  { headers }: Request,
  address: ClientAddress,
  { reports }: Policy,
  hasher: Pick<Hasher, "unit">,
): boolean {
  if (reports === undefined || reports.share <= 0 || declines(headers)) return false;
  return reports.share >= 1 || hasher.unit("reporting", address) < reports.share;
}

/**
 * Whether a visitor does not want it: by Global Privacy Control, or because they save data. A page that is only fetched ahead
 * of time would report a load that nobody waited for.
 */
function declines(headers: Headers): boolean {
  return (
    headers.get("sec-gpc") === "1" ||
    headers.get("save-data")?.toLowerCase() === "on" ||
    headers.has("sec-purpose") ||
    headers.has("purpose")
  );
}
