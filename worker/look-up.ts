import { type ActivePolicy, dependsOnClient, policyFor } from "../policy-api/core/activation.ts";
import { modeFor } from "../policy-api/core/decide.ts";
import type { RequestFacts } from "../policy-api/core/facts.ts";
import type { Remembered } from "../policy-api/core/history.ts";
import { type ClientAddress, clientAddress } from "./address.ts";
import { type ConnectionFacts, connectionFacts } from "./cf.ts";
import type { Isolate } from "./isolate.ts";
import type { HeldBundle } from "./policy-cache.ts";
import { regionOf } from "./region.ts";
import { NO_NEWS, type PendingNews } from "./report-buffer.ts";
import { pathObject, type StoredClient, type Stores } from "./stores.ts";

/** Exploration draws anew each hour. */
export const EXPLORATION_PERIOD_MS = 3_600_000;

/** What is known about one navigation at one moment. It never changes: what arrives later goes into a new one. */
export interface Found {
  readonly connection: ConnectionFacts;
  readonly facts: RequestFacts;
  /** Undefined where the address cannot be believed. */
  readonly address: ClientAddress | undefined;
  readonly held: HeldBundle | undefined;
  /** Drawn where the activation has a stage for a share of clients. */
  readonly activationUnit: number | undefined;
  readonly client: StoredClient | undefined;
  /** Drawn where the policy explores. */
  readonly explorationUnit: number | undefined;
  /** Drawn where the policy offers to a share of clients. */
  readonly shareUnit: number | undefined;
  /** What the isolate had not yet told the object when it asked: `remembered` may lack it. */
  readonly pending: PendingNews;
  readonly remembered: Remembered | undefined;
}

/**
 * Starts to look up everything that one navigation needs, while the origin works.
 *
 * @returns a function to call when the origin's headers are there. It returns what was found: at once if the look-up is
 *   over, else when it is over or `budgetMs` have passed. It never rejects.
 */
export function lookUp(
  request: Request,
  url: URL,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
  isolate: Isolate,
): (budgetMs: number) => Promise<Found> {
  const nowMs = Date.now();
  const connection = connectionFacts(request.cf, isolate.settings, nowMs);
  const facts = { ...connection.facts, path: url.pathname };
  const addressText = connection.addressTrusted ? request.headers.get("cf-connecting-ip") : null;
  const address = addressText === null ? undefined : clientAddress(addressText);
  let isOver = false;
  let found: Found = {
    connection,
    facts,
    address,
    held: isolate.policyCache.held,
    activationUnit: undefined,
    client: undefined,
    explorationUnit: undefined,
    shareUnit: undefined,
    pending: NO_NEWS,
    remembered: undefined,
  };

  const search = async (): Promise<void> => {
    await isolate.policyCache.ready(stores, ctx, nowMs);
    const { held } = isolate.policyCache;
    if (held !== found.held) found = { ...found, held };
    const inForce = held?.inForce;
    if (held === undefined || inForce === undefined || inForce.killSwitch !== null) return;
    const { hasher } = held;
    if (hasher === undefined) return;
    if (address !== undefined && dependsOnClient(inForce, facts.path))
      found = { ...found, activationUnit: await hasher.activationUnit(address) };
    const policy = activeFor(found)?.policy;
    if (policy === undefined || modeFor(policy, facts) !== "adaptive") return;
    if (address === undefined) {
      // Nothing can be remembered of a client without an address: it is unknown, and the look-up is not late.
      found = { ...found, remembered: {} };
      return;
    }
    const client = await storedClient(found, isolate);
    if (client === undefined) return;
    found = { ...found, client };
    if (policy.exploration.share > 0) {
      const period = Math.floor(nowMs / EXPLORATION_PERIOD_MS);
      found = { ...found, explorationUnit: await hasher.explorationUnit(address, period) };
    }
    if (policy.method?.kind === "share") found = { ...found, shareUnit: await hasher.shareUnit(address) };
    found = { ...found, pending: isolate.reports.pending(client.object.name, client.keys.client) };
    found = { ...found, remembered: await stores.lookUp(client) };
  };
  const searching = search().then(end, end);
  function end(): void {
    isOver = true;
  }
  return async (budgetMs) => {
    if (!isOver && budgetMs > 0) await Promise.race([searching, scheduler.wait(budgetMs)]);
    return found;
  };
}

/** The version of the policy for this request. Undefined while that is not known. */
export function activeFor({ held, address, activationUnit, facts }: Found): ActivePolicy | undefined {
  const inForce = held?.inForce;
  if (inForce === undefined) return undefined;
  // While the client's unit is not drawn, it may be in a stage: so `everyone` is not the answer.
  if (address !== undefined && activationUnit === undefined && dependsOnClient(inForce, facts.path)) return undefined;
  return policyFor(inForce, facts.path, activationUnit);
}

/** The client's keys and object, computed unless they were found. Undefined without an address or a hasher. */
export async function storedClient(
  { client, address, held, connection, facts }: Found,
  { settings }: Isolate,
): Promise<StoredClient | undefined> {
  const hasher = held?.hasher;
  if (client !== undefined || address === undefined || hasher === undefined) return client;
  const [keys, number] = await Promise.all([
    hasher.client(address, facts.asn),
    hasher.object(address, settings.objectsPerRegion),
  ]);
  return { keys, object: pathObject(regionOf(connection), number) };
}
