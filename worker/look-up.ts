import { type ActivePolicy, dependsOnClient, policyFor } from "../policy-api/decision/activation.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import { drawnArm, modeFor } from "../policy-api/decision/decide.ts";
import type { RequestFacts } from "../policy-api/decision/facts.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import type { Labels } from "../policy-api/api/counters/families.ts";
import type { ClientKeys } from "../durable/client-report.ts";
import { type ClientAddress, clientAddress } from "./address.ts";
import { type ConnectionFacts, connectionFacts } from "./cf.ts";
import type { Isolate } from "./isolate.ts";
import type { HeldBundle } from "./policy-cache.ts";
import type { RecentlyFound } from "./recent-clients.ts";
import { regionOf } from "./region.ts";
import { NO_NEWS, type PendingNews } from "./report-buffer.ts";
import type { Asked } from "./reporter/asked.ts";
import { pathObject, type StoredClient, type Stores } from "./stores.ts";

/** What is known about one navigation at one moment. It never changes: what arrives later goes into a new one. */
export interface Found {
  /**
   * When the look-up began, milliseconds since the epoch. The period of assignment is that of this moment, so that a page at its
   * end has the arm and the period of one draw.
   */
  readonly atMs: number;
  /** Host and port. */
  readonly host: string;
  readonly connection: ConnectionFacts;
  readonly facts: RequestFacts;
  /** Undefined where the address cannot be believed. */
  readonly address: ClientAddress | undefined;
  readonly held: HeldBundle | undefined;
  /** Whether that is too old to make an offer by. */
  readonly isOutdated: boolean;
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
  /** Set where the page is asked to report how long it took. */
  readonly asked: Asked | undefined;
}

/** What is known of a client, and from where. */
interface Recalled extends Pick<RecentlyFound, "remembered"> {
  readonly from: Labels<"look_ups">["from"];
}

/**
 * Starts to look up everything that one navigation needs, while the origin works.
 *
 * @param ask What comes last, if there is time for it.
 * @returns a function to call when the origin's headers are there. It returns what was found: at once if the look-up is
 *   over, else when it is over or `budgetMs` have passed. It never rejects.
 */
export function lookUp(
  request: Request,
  url: URL,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
  isolate: Isolate,
  ask: (found: Found) => Asked | undefined = () => undefined,
): (budgetMs: number) => Promise<Found> {
  const nowMs = Date.now();
  const connection = connectionFacts(request.cf, isolate.settings, nowMs);
  const facts = { ...connection.facts, path: url.pathname };
  const address = addressOf(request, connection);
  let isOver = false;
  let found: Found = {
    atMs: nowMs,
    host: url.host,
    connection,
    facts,
    address,
    held: isolate.policyCache.held,
    isOutdated: isolate.policyCache.outdated(nowMs),
    activationUnit: undefined,
    client: undefined,
    explorationUnit: undefined,
    shareUnit: undefined,
    pending: NO_NEWS,
    remembered: undefined,
    asked: undefined,
  };

  /** What an isolate near this one heard of a client a moment ago. */
  const recallNearby = async ({ client }: ClientKeys, pending: PendingNews): Promise<RecentlyFound | undefined> => {
    const shared = await isolate.nearby?.find(url.origin, client);
    return shared && isolate.recent.adopt(client, shared, pending, nowMs);
  };
  const recalled = ({ remembered, news }: RecentlyFound, from: Recalled["from"]): Recalled => {
    found = { ...found, pending: news };
    isolate.counters.add("look_ups", { from });
    return { remembered, from };
  };
  /** What the object knows of a client, or what was heard of it a moment ago, if that will do. */
  const recall = async (client: StoredClient, mayBeRecent: boolean): Promise<Recalled> => {
    const { keys, object } = client;
    found = { ...found, client };
    const own = mayBeRecent ? isolate.recent.find(keys.client, nowMs) : undefined;
    if (own !== undefined) return recalled(own, "memory");
    const pending = isolate.reports.pending(object.name, keys.client);
    found = { ...found, pending };
    const near = mayBeRecent && isolate.nearby !== undefined ? await recallNearby(keys, pending) : undefined;
    if (near !== undefined) return recalled(near, "nearby");
    isolate.counters.add("look_ups", { from: "store" });
    const take = isolate.recent.ask(keys.client, pending, nowMs);
    try {
      const remembered = await stores.lookUp(client);
      take(remembered);
      return { remembered, from: "store" };
    } catch (error) {
      isolate.counters.add("look_ups_failed", {});
      throw error;
    }
  };
  /** Side by side with the policy, where this isolate has none: then a client's name does not hang on the store's key. */
  const recallEarly = (): ReturnType<typeof recall> | undefined => {
    // An old policy tells nothing for sure, but where it needed no look-up the next one seldom does.
    const last = found.held?.inForce;
    if (last !== undefined && (last.killSwitch !== null || last.everyone.policy?.mode !== "adaptive")) return undefined;
    const client = storedClient(found, isolate);
    return client && recall(client, true);
  };

  const search = async (): Promise<void> => {
    const isEarly = isolate.settings.clientKey !== undefined && found.isOutdated;
    const asking = isEarly ? recallEarly() : undefined;
    // It may fail before anybody waits for it, or nobody may.
    asking?.catch(() => undefined);
    await isolate.policyCache.ready(stores, ctx, nowMs);
    const { held } = isolate.policyCache;
    const isOutdated = isolate.policyCache.outdated(Date.now());
    if (held !== found.held || isOutdated !== found.isOutdated) found = { ...found, held, isOutdated };
    const inForce = held?.inForce;
    if (held === undefined || inForce === undefined || inForce.killSwitch !== null) return;
    const { hasher } = held;
    if (hasher === undefined) return;
    if (address !== undefined && dependsOnClient(inForce, facts.path)) {
      found = { ...found, activationUnit: hasher.activationUnit(address) };
    }
    const policy = activeFor(found)?.policy;
    if (policy === undefined || modeFor(policy, facts) !== "adaptive") return;
    if (address === undefined) {
      // Nothing can be remembered of a client without an address: it is unknown, and the look-up is not late.
      found = { ...found, remembered: {} };
      return;
    }
    const client = storedClient(found, isolate);
    if (client === undefined) return;
    const explorationUnit = policy.exploration.share > 0 ? hasher.explorationUnit(address, periodAt(nowMs)) : undefined;
    const shareUnit = policy.method?.kind === "share" ? hasher.shareUnit(address) : undefined;
    found = { ...found, client, explorationUnit, shareUnit };
    // Pages of drawn clients are told apart by what the store knows, and by nothing that hangs on the arm.
    const early = await asking;
    const { remembered } =
      early === undefined || (isDrawn(found) && early.from !== "store") ? await recall(client, !isDrawn(found)) : early;
    // Last: what is remembered is there only with all that is drawn.
    found = { ...found, remembered };
  };
  const searchAndAsk = async (): Promise<void> => {
    try {
      await search();
      const asked = ask(found);
      if (asked !== undefined) found = { ...found, asked };
    } catch {
      // What was found so far is what is known.
    } finally {
      isOver = true;
    }
  };
  const searching = searchAndAsk();
  return async (budgetMs) => {
    if (!isOver && budgetMs > 0) await Promise.race([searching, scheduler.wait(budgetMs)]);
    return found;
  };
}

/** The client's address, where the platform vouches for it. */
export function addressOf({ headers }: Request, { addressTrusted }: ConnectionFacts): ClientAddress | undefined {
  const text = addressTrusted ? headers.get("cf-connecting-ip") : null;
  return text === null ? undefined : clientAddress(text);
}

/** The version of the policy for this request. Undefined while that is not known. */
export function activeFor({ held, address, activationUnit, facts }: Found): ActivePolicy | undefined {
  const inForce = held?.inForce;
  if (inForce === undefined) return undefined;
  // While the client's unit is not drawn, it may be in a stage: so `everyone` is not the answer.
  if (address !== undefined && activationUnit === undefined && dependsOnClient(inForce, facts.path)) return undefined;
  return policyFor(inForce, facts.path, activationUnit);
}

/** Whether a draw decides about this client's pages, and not the policy. */
export function isDrawn(found: Found): boolean {
  const policy = activeFor(found)?.policy;
  return policy !== undefined && drawnArm(policy, found.explorationUnit) !== undefined;
}

/** The client's keys and object, computed unless they were found. Undefined without an address, or without a key to hash it with. */
export function storedClient(
  { client, address, held, connection }: Pick<Found, "client" | "address" | "held" | "connection">,
  isolate: Isolate,
): StoredClient | undefined {
  if (client !== undefined || address === undefined) return client;
  const hasher = isolate.namer(held);
  if (hasher === undefined) return undefined;
  const { keys, object } = hasher.named(address, isolate.settings.objectsPerRegion, connection.facts.asn);
  return { keys, object: pathObject(regionOf(connection), object) };
}
