import type { Activation } from "../policy-api/core/activation.ts";
import type { LookUpReply } from "../durable/path-store-api.ts";
import { FailedAttempts } from "../policy-api/http/failed-attempts.ts";
import type { ClientsPort, PolicyApiPorts } from "../policy-api/http/ports.ts";
import { clientAddress } from "./address.ts";
import { Complaints } from "./complaints.ts";
import type { Isolate } from "./isolate.ts";
import type { Keys } from "./keys.ts";
import { EXPLORATION_PERIOD_MS } from "./look-up.ts";
import { REGIONS } from "./region.ts";
import type { SettingsFault } from "./settings.ts";
import { type ObjectName, pathStore, policyStore, type StoreBindings, type Stores } from "./stores.ts";

const failedAttempts = new FailedAttempts();
const complaints = new Complaints("The API failed inside");

/** Anybody may ask how it is: the one store is asked for all of them at most once in this time, milliseconds. */
const CHECK_MS = 1_000;
let checked: { readonly atMs: number; readonly activation: Activation | null | undefined } | undefined;

/** What the API is mounted on here: the objects, and what this isolate holds. */
export function apiPorts(
  env: StoreBindings,
  { isolate, stores, settingsFaults }: { isolate: Isolate; stores: Stores; settingsFaults: readonly SettingsFault[] },
  ctx: Pick<ExecutionContext, "waitUntil">,
): PolicyApiPorts {
  const { settings } = isolate;
  return {
    store: policyStore(env),
    clients: clientsPort(env, isolate, stores, ctx),
    inForce: async () => {
      await isolate.policy.ready(stores, ctx, Date.now());
      return isolate.policy.held?.inForce;
    },
    checkActivation: async () => {
      const nowMs = Date.now();
      if (checked === undefined || Math.abs(nowMs - checked.atMs) >= CHECK_MS)
        checked = {
          atMs: nowMs,
          activation: await policyStore(env)
            .activation()
            .catch(() => null),
        };
      return checked.activation;
    },
    changed: async () => isolate.policy.renew(stores, Date.now()),
    tokens: settings.tokens,
    failedAttempts,
    corsOrigins: settings.apiOrigins,
    callerAddress: (request) => {
      // Elsewhere a caller could name any address: it would be counted for somebody else.
      if (settings.edge === "none") return undefined;
      const text = request.headers.get("cf-connecting-ip");
      return text === null ? undefined : clientAddress(text)?.client;
    },
    settingsFaults,
    failed: (error) => complaints.say(error),
  };
}

/** Of a client that was in several regions: what was heard of last. */
function newest(replies: readonly LookUpReply[]): LookUpReply {
  const heardAtMs = ({ client, network, asn }: LookUpReply): number =>
    Math.max(
      0,
      ...[client ?? network ?? asn].flatMap((state) => [state?.tcp?.lastAtMs ?? 0, state?.quic?.lastAtMs ?? 0]),
    );
  const rank = (reply: LookUpReply): number => (reply.client !== undefined ? 2 : reply.network !== undefined ? 1 : 0);
  return replies.reduce((best, reply) => {
    const better = rank(reply) - rank(best) || heardAtMs(reply) - heardAtMs(best);
    return better > 0 ? reply : best;
  }, {});
}

function clientsPort(
  env: StoreBindings,
  isolate: Isolate,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
): ClientsPort {
  const keysHeld = async (): Promise<Keys> => {
    await isolate.policy.ready(stores, ctx, Date.now());
    if (isolate.policy.held === undefined) throw new Error("the policy store does not answer");
    return isolate.policy.held.keys;
  };
  /** A caller is not where the client is, whose region is part of its object's name: all are asked. */
  const objectsOf = (number: number): ObjectName[] =>
    (isolate.settings.edge === "cloudflare" ? REGIONS : (["local"] as const)).map((region) => ({ region, number }));
  return {
    lookUp: async (text, asn) => {
      const address = clientAddress(text);
      if (address === undefined) return undefined;
      const keys = await keysHeld();
      const client = await keys.client(address);
      const number = await keys.object(address, isolate.settings.objectsPerRegion);
      const named = asn === undefined ? client : { ...client, asn };
      const replies = await Promise.all(objectsOf(number).map((object) => stores.lookUp(object, named)));
      return newest(replies);
    },
    forget: async (what, text) => {
      const address = clientAddress(text);
      if (address === undefined) return undefined;
      const keys = await keysHeld();
      const { client, network } = await keys.client(address);
      const number = await keys.object(address, isolate.settings.objectsPerRegion);
      const key = what === "client" ? { client } : { network };
      const forgotten = await Promise.all(objectsOf(number).map(async (object) => pathStore(env, object).forget(key)));
      return forgotten.filter(Boolean).length;
    },
    units: async (text, nowMs) => {
      const address = clientAddress(text);
      if (address === undefined) return undefined;
      const keys = await keysHeld();
      const [activation, share, exploration] = await Promise.all([
        keys.activationUnit(address),
        keys.shareUnit(address),
        keys.explorationUnit(address, Math.floor(nowMs / EXPLORATION_PERIOD_MS)),
      ]);
      return { activation, share, exploration };
    },
  };
}
