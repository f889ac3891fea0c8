import { POLICY_CACHE_MS } from "../policy-api/decision/policy.ts";
import { SHARED_MS, type Shared } from "./recent-clients.ts";

/** A revision that was in force when somebody asked the store. */
export interface HeardRevision {
  readonly revision: number;
  /** When the question left, milliseconds since the epoch. */
  readonly askedAtMs: number;
}

/** What other isolates of the same data centre found out a moment ago: about clients, and about what is in force. */
export interface Nearby {
  /** @returns undefined where nothing is held, or nothing came in time. Never rejects. */
  find(site: string, client: string): Promise<Shared | undefined>;
  /** Never rejects. */
  keep(site: string, client: string, shared: Shared, nowMs: number): Promise<void>;
  /** @returns undefined as with `find`. Never rejects. */
  findRevision(site: string): Promise<HeardRevision | undefined>;
  /** Never rejects. */
  keepRevision(site: string, heard: HeardRevision): Promise<void>;
}

/** A cache apart from the site's files. The number is that of the shape of what is kept: another one begins an empty cache. */
const CACHE_NAME = "adaptive-h3-clients-3";
/** A question to the store begins if the cache says nothing for this long, milliseconds. */
const ANSWER_MS = 20;

/**
 * Nearby as Cloudflare's Cache API: it is one for all isolates of a data centre, and has no price of its own. On workers.dev and behind
 * Cloudflare Access it does nothing. An entry's name is a keyed hash, and it holds no address.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/cache/
 */
export function cacheNearby(open: () => Promise<Cache> = () => caches.open(CACHE_NAME)): Nearby {
  const read = async <T>(name: string): Promise<T | undefined> => {
    try {
      const found = await (await open()).match(name);
      return found === undefined ? undefined : await found.json<T>();
    } catch {
      return undefined;
    }
  };
  const find = async <T>(name: string): Promise<T | undefined> =>
    Promise.race([read<T>(name), scheduler.wait(ANSWER_MS).then(() => undefined)]);
  const keep = async (name: string, what: object, leftS: number): Promise<void> => {
    if (leftS <= 0) return;
    try {
      await (await open()).put(name, Response.json(what, { headers: { "cache-control": `max-age=${leftS}` } }));
    } catch {
      // The next page asks the store.
    }
  };
  return {
    find: (site, client) => find<Shared>(nameOf(site, client)),
    keep: (site, client, shared, nowMs) =>
      keep(nameOf(site, client), shared, Math.floor((shared.askedAtMs + SHARED_MS - nowMs) / 1_000)),
    findRevision: (site) => find<HeardRevision>(`${site}/_h3/in-force`),
    keepRevision: (site, heard) => keep(`${site}/_h3/in-force`, heard, POLICY_CACHE_MS / 1_000),
  };
}

/** On the site's own host: for another one, Cloudflare would look up its name. */
function nameOf(site: string, client: string): string {
  return `${site}/_h3/clients/${encodeURIComponent(client)}`;
}
