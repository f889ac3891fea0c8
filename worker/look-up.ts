import { type ActivePolicy, dependsOnClient, policyFor } from "../policy-api/decision/activation.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import { drawnArm, modeFor } from "../policy-api/decision/decide.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import type { Labels } from "../policy-api/api/counters/families.ts";
import { NO_NEWS, type PendingNews } from "./news.ts";
import type { CachedPolicy } from "./policy-cache.ts";
import type { StoredClient } from "./stores.ts";
import { mayAsk, storedClient, type Visit } from "./visit.ts";

/** What is known about a visit at one moment: what arrives later does not change it. */
export type Found = Readonly<Finding>;

/** What the steps of a look-up have brought so far. */
interface Finding {
  cached: CachedPolicy | undefined;
  /** Whether that is too old to make an offer by. */
  isOutdated: boolean;
  /** The version of the policy for this visit. Undefined while that is not known. */
  active: ActivePolicy | undefined;
  client: StoredClient | undefined;
  /** Drawn where the policy explores. */
  explorationUnit: number | undefined;
  /** Set where a draw decides about this client's pages, and not the policy. */
  arm: ReturnType<typeof drawnArm>;
  /** Drawn where the policy offers to a share of clients. */
  shareUnit: number | undefined;
  /** Whether the policy and the visitor let the page be asked to report. */
  mayAsk: boolean;
  /** What the isolate had not yet flushed to the object when it asked: `remembered` may lack it. */
  pending: PendingNews;
  remembered: Remembered | undefined;
  /** Whether nothing more comes, and nothing failed. */
  isComplete: boolean;
}

/**
 * Starts to look up everything that one navigation needs, while the origin works.
 *
 * @returns a function to call when the origin's headers are there. It returns what was found: at once if the look-up is
 *   over, else when it is over or `budgetMs` have passed. It never rejects.
 */
export function lookUp(visit: Visit): (budgetMs: number) => Promise<Found> {
  const { policyCache } = visit.isolate;
  const cached = policyCache.current;
  const found: Finding = {
    cached,
    isOutdated: policyCache.outdated(visit.atMs),
    active: activeFor(visit, cached, undefined),
    client: undefined,
    explorationUnit: undefined,
    arm: undefined,
    shareUnit: undefined,
    mayAsk: false,
    pending: NO_NEWS,
    remembered: undefined,
    isComplete: false,
  };
  let isOver = false;
  const searchToTheEnd = async (): Promise<void> => {
    try {
      await search(visit, found);
      found.isComplete = true;
    } catch {
      // What was found so far is what is known.
    } finally {
      isOver = true;
    }
  };
  const searching = searchToTheEnd();
  return async (budgetMs) => {
    if (!isOver && budgetMs > 0) await Promise.race([searching, scheduler.wait(budgetMs)]);
    return isOver ? found : { ...found };
  };
}

async function search(visit: Visit, found: Finding): Promise<void> {
  const early = recallEarly(visit, found);
  // It may fail before anybody waits for it, or nobody may.
  early?.catch(() => undefined);
  await findPolicy(visit, found);
  if (!identify(visit, found)) return;
  const { client, arm } = found;
  // Nothing can be remembered of a client without an address: it is unknown, and the look-up is not late.
  if (visit.address === undefined) found.remembered = {};
  if (client === undefined) return;
  // Pages of drawn clients are told apart by what the store knows, and by nothing that hangs on the arm.
  const recalled = await early;
  const mayStay = recalled !== undefined && (arm === undefined || recalled.from === "store");
  found.remembered = (mayStay ? recalled : await recall(visit, found, client, arm === undefined)).remembered;
}

/** The first step: what is in force. */
async function findPolicy({ isolate: { policyCache }, stores, ctx, url, atMs }: Visit, found: Finding): Promise<void> {
  await policyCache.ready(stores, ctx, atMs, url.origin);
  found.cached = policyCache.current;
  found.isOutdated = policyCache.outdated(Date.now());
}

/**
 * The second step: who it is, as far as the policy needs to know.
 *
 * @returns whether the decision depends on what is remembered.
 */
function identify(visit: Visit, found: Finding): boolean {
  const { address, facts, atMs } = visit;
  const { inForce, hasher } = found.cached ?? {};
  found.active = activeFor(visit, found.cached, undefined);
  if (inForce === undefined || inForce.killSwitch !== null || hasher === undefined) return false;
  if (address !== undefined && dependsOnClient(inForce, facts.path))
    found.active = activeFor(visit, found.cached, hasher.unit("activation", address));
  const policy = found.active?.policy;
  if (policy === undefined) return false;
  const isAdaptive = modeFor(policy, facts) === "adaptive";
  if (address === undefined) return isAdaptive;
  found.mayAsk = mayAsk(visit.request, address, policy, hasher);
  if (isAdaptive || found.mayAsk) found.client = storedClient(visit, found.cached);
  if (!isAdaptive) return false;
  const { exploration, method } = policy;
  if (exploration.share > 0) found.explorationUnit = hasher.unit("exploration", address, periodAt(atMs));
  if (method?.kind === "share") found.shareUnit = hasher.unit("share", address);
  found.arm = drawnArm(policy, found.explorationUnit);
  return true;
}

interface Recalled {
  readonly remembered: Remembered;
  readonly from: Labels<"look_ups">["from"];
}

/**
 * The third step: what the object knows of a client, or what was heard of it a moment ago, here or in an isolate near this one, if that
 * will do.
 */
async function recall(
  { isolate, stores, url, atMs }: Visit,
  found: Finding,
  client: StoredClient,
  mayBeRecent: boolean,
): Promise<Recalled> {
  const { keys, object } = client;
  const { counters, nearby, recent, reports } = isolate;
  const own = mayBeRecent ? recent.find(keys.client, atMs) : undefined;
  const pending = own?.news ?? reports.pending(object.name, keys.client);
  found.pending = pending;
  if (own !== undefined) {
    counters.add("look_ups", { from: "memory" });
    return { remembered: own.remembered, from: "memory" };
  }
  const shared = mayBeRecent && nearby !== undefined ? await nearby.find(url.origin, keys.client) : undefined;
  const near = shared && recent.adopt(keys.client, shared, pending, atMs);
  if (near !== undefined) {
    found.pending = near.news;
    counters.add("look_ups", { from: "nearby" });
    return { remembered: near.remembered, from: "nearby" };
  }
  counters.add("look_ups", { from: "store" });
  const take = recent.ask(keys.client, pending, atMs);
  try {
    const remembered = await stores.lookUp(client);
    take(remembered);
    return { remembered, from: "store" };
  } catch (error) {
    counters.add("look_ups_failed", {});
    throw error;
  }
}

/**
 * The third step side by side with the first, where this isolate has no policy that is young enough, and where a client's name does not
 * hang on the store's key. Undefined elsewhere.
 */
function recallEarly(visit: Visit, found: Finding): Promise<Recalled> | undefined {
  if (visit.isolate.settings.clientKey === undefined || !found.isOutdated) return undefined;
  // An old policy tells nothing for sure, but where it needed no look-up the next one seldom does.
  const last = found.cached?.inForce;
  if (last !== undefined && (last.killSwitch !== null || last.everyone.policy?.mode !== "adaptive")) return undefined;
  found.client = storedClient(visit, found.cached);
  return found.client && recall(visit, found, found.client, true);
}

function activeFor(
  { address, facts }: Visit,
  cached: CachedPolicy | undefined,
  activationUnit: number | undefined,
): ActivePolicy | undefined {
  const inForce = cached?.inForce;
  if (inForce === undefined) return undefined;
  // While the client's unit is not drawn, it may be in a stage: so `everyone` is not the answer.
  if (address !== undefined && activationUnit === undefined && dependsOnClient(inForce, facts.path)) return undefined;
  return policyFor(inForce, facts.path, activationUnit);
}
