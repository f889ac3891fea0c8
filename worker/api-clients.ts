import type { ClientsPort } from "../policy-api/api/ports.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import { clientAddress } from "./address.ts";
import type { Hasher } from "./hasher.ts";
import type { Isolate } from "./isolate.ts";
import { regionsOf } from "./region.ts";
import { pathObject, pathStore, type StoreBindings, type StoredClient, type Stores } from "./stores.ts";

/** What is known of clients. The region in an object's name is the client's, and the caller may be elsewhere: so all regions are asked. */
export function clientsPort(
  env: StoreBindings,
  isolate: Isolate,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
): ClientsPort {
  const { settings, policyCache, recent } = isolate;
  const hasherOf = async (which: () => Hasher | undefined): Promise<Hasher> => {
    await policyCache.ready(stores, ctx, Date.now());
    const hasher = which();
    if (hasher === undefined) throw new Error("the policy store does not answer");
    return hasher;
  };
  /** A client, in each object that may hold it. Undefined for what is no address. */
  const inEachRegion = async (text: string): Promise<readonly StoredClient[] | undefined> => {
    const address = clientAddress(text);
    if (address === undefined) return undefined;
    const hasher = await hasherOf(() => isolate.namer(policyCache.current));
    const { keys, object } = hasher.named(address, settings.objectsPerRegion);
    return regionsOf(settings).map((region) => ({ keys, object: pathObject(region, object) }));
  };
  return {
    lookUp: async (text) => {
      const clients = await inEachRegion(text);
      return clients && newest(await Promise.all(clients.map((client) => stores.lookUp(client))));
    },
    forget: async (text) => {
      const clients = await inEachRegion(text);
      if (clients === undefined) return undefined;
      const forgotten = clients.map(async ({ object, keys }) => pathStore(env, object).forget(keys.client));
      try {
        return (await Promise.all(forgotten)).filter(Boolean).length;
      } finally {
        // Last: a page meanwhile may have looked it up.
        for (const { keys } of clients.slice(0, 1)) recent.forget(keys.client, Date.now());
      }
    },
    units: async (text, nowMs) => {
      const address = clientAddress(text);
      if (address === undefined) return undefined;
      const hasher = await hasherOf(() => policyCache.current?.hasher);
      return {
        activation: hasher.unit("activation", address),
        share: hasher.unit("share", address),
        exploration: hasher.unit("exploration", address, periodAt(nowMs)),
      };
    },
  };
}

/** For a client that was in several regions: the most recent reply of those that know it. */
function newest(replies: readonly Remembered[]): Remembered {
  return replies.reduce<Remembered>((best, reply) => (heardAtMs(reply) > heardAtMs(best) ? reply : best), {});
}

function heardAtMs({ client, offers }: Remembered): number {
  return Math.max(offers?.origins[0]?.answeredAtMs ?? 0, ...(client?.connections ?? []).map(({ atMs }) => atMs));
}
