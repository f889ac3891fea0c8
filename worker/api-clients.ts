import type { ClientsPort } from "../policy-api/api/ports.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import { type UpperLevel, UPPER_LEVELS } from "../policy-api/decision/mix.ts";
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
  const inEachRegion = async (text: string, asn?: number): Promise<readonly StoredClient[] | undefined> => {
    const address = clientAddress(text);
    if (address === undefined) return undefined;
    const hasher = await hasherOf(() => isolate.namer(policyCache.current));
    const { keys, object } = hasher.named(address, settings.objectsPerRegion, asn);
    return regionsOf(settings).map((region) => ({ keys, object: pathObject(region, object) }));
  };
  return {
    lookUp: async (text, asn) => {
      const clients = await inEachRegion(text, asn);
      return clients && newest(await Promise.all(clients.map((client) => stores.lookUp(client))));
    },
    forget: async (what, text) => {
      const clients = await inEachRegion(text);
      if (clients === undefined) return undefined;
      const forgotten = clients.map(async ({ object, keys: { client, network } }) =>
        pathStore(env, object).forget(what === "client" ? { client } : { network }),
      );
      try {
        return (await Promise.all(forgotten)).filter(Boolean).length;
      } finally {
        // Last: a page meanwhile may have looked it up. A network's clients have names that say nothing of it: all are forgotten.
        recent.forget(what === "client" ? clients[0]?.keys.client : undefined, Date.now());
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

/** For a client that was in several regions: the reply with the nearest level, and of several the most recent. */
function newest(replies: readonly Remembered[]): Remembered {
  const level = (["client", ...UPPER_LEVELS] as const).find((one) => replies.some((reply) => reply[one] !== undefined));
  if (level === undefined) return {};
  return replies
    .filter((reply) => reply[level] !== undefined)
    .reduce((best, reply) => (heardAtMs(reply, level) > heardAtMs(best, level) ? reply : best));
}

function heardAtMs(reply: Remembered, level: "client" | UpperLevel): number {
  if (level !== "client") return reply[level]?.mix.asOfMs ?? 0;
  const { client, offers } = reply;
  return Math.max(offers?.origins[0]?.answeredAtMs ?? 0, ...(client?.connections ?? []).map(({ atMs }) => atMs));
}
