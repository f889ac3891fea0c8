import { RECENT_MS, type Shared } from "./recent-clients.ts";

/** What other isolates of the same data centre found out about clients a moment ago. */
export interface Nearby {
  /** @returns undefined where nothing is held, or nothing came in time. Never rejects. */
  find(site: string, client: string): Promise<Shared | undefined>;
  /** Never rejects. */
  keep(site: string, client: string, shared: Shared, nowMs: number): Promise<void>;
}

/** A cache apart from the site's files. The number is that of the shape of what is kept: another one begins an empty cache. */
const CACHE_NAME = "adaptive-h3-clients-3";
/** A look-up in the store begins if the cache says nothing for this long, milliseconds. */
const ANSWER_MS = 20;

/**
 * Nearby as Cloudflare's Cache API: it is one for all isolates of a data centre, and has no price of its own. On workers.dev and behind
 * Cloudflare Access it does nothing. An entry's name is a keyed hash, and it holds no address.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/cache/
 */
export function cacheNearby(open: () => Promise<Cache> = () => caches.open(CACHE_NAME)): Nearby {
  const read = async (site: string, client: string): Promise<Shared | undefined> => {
    try {
      const found = await (await open()).match(nameOf(site, client));
      return found === undefined ? undefined : await found.json();
    } catch {
      return undefined;
    }
  };
  return {
    find: async (site, client) => Promise.race([read(site, client), scheduler.wait(ANSWER_MS).then(() => undefined)]),
    keep: async (site, client, shared, nowMs) => {
      const leftS = Math.floor((shared.askedAtMs + RECENT_MS - nowMs) / 1_000);
      if (leftS <= 0) return;
      try {
        const kept = Response.json(shared, { headers: { "cache-control": `max-age=${leftS}` } });
        await (await open()).put(nameOf(site, client), kept);
      } catch {
        // The next page asks the store.
      }
    },
  };
}

/** On the site's own host: for another one, Cloudflare would look up its name. */
function nameOf(site: string, client: string): string {
  return `${site}/_h3/clients/${encodeURIComponent(client)}`;
}
