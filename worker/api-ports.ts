import { merged, NO_TALLY } from "../policy-api/api/counters/counted.ts";
import type { Extent } from "../policy-api/api/counters/extent.ts";
import { FailedAttempts } from "../policy-api/api/failed-attempts.ts";
import type { ClientsPort, CountersPort, OutcomesPort, PolicyApiPorts } from "../policy-api/api/ports.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import { UPPER_LEVELS, type UpperLevel } from "../policy-api/decision/mix.ts";
import { Gathered, type OutcomeRow } from "../policy-api/visitors/gathered.ts";
import { ANSWER_HEADERS } from "./actuator.ts";
import { clientAddress } from "./address.ts";
import { connectionFacts } from "./cf.ts";
import type { Hasher } from "./hasher.ts";
import type { Isolate } from "./isolate.ts";
import { LimitedLog } from "./limited-log.ts";
import type { CachedPolicy } from "./policy-cache.ts";
import { type Region, regionOf, REGIONS } from "./region.ts";
import type { SettingsFault } from "./settings.ts";
import {
  counterStore,
  pathObject,
  type PathObject,
  pathStore,
  policyStore,
  type StoreBindings,
  type StoredClient,
  type Stores,
} from "./stores.ts";

const failedAttempts = new FailedAttempts();
const errorLog = new LimitedLog("The API failed inside");

/** The TLS edge speaks every 250 ms. What it said is old after this time, milliseconds. */
const EDGE_SILENT_MS = 10_000;

/** How long a call of the store may take in a probe, milliseconds. */
const PROBE_MS = 2_000;

/** What the API gets from the worker: the objects, and what this isolate holds. */
export function apiPorts(
  env: StoreBindings,
  { isolate, stores, settingsFaults }: { isolate: Isolate; stores: Stores; settingsFaults: readonly SettingsFault[] },
  ctx: Pick<ExecutionContext, "waitUntil">,
): PolicyApiPorts {
  const { settings } = isolate;
  return {
    store: policyStore(env),
    clients: clientsPort(env, isolate, stores, ctx),
    outcomes: outcomesPort(env, isolate),
    counters: countersPort(env, isolate, stores),
    inForce: async () => {
      await isolate.policyCache.ready(stores, ctx, Date.now());
      const inForce = isolate.policyCache.current?.inForce;
      // An old one makes no offers here, nor elsewhere.
      return inForce?.killSwitch === null && isolate.policyCache.outdated(Date.now()) ? undefined : inForce;
    },
    checkStore: () => isolate.storeHealth.check(env, Date.now()),
    isOriginLost: () => isolate.origin.isLost,
    edgeHttp3: () => {
      const said = isolate.edgeHttp3;
      return said === undefined || Math.abs(Date.now() - said.atMs) > EDGE_SILENT_MS ? "unknown" : said.state;
    },
    probe: async ({ cf }, actuator) => {
      const connection = connectionFacts(cf, settings, Date.now());
      const object = pathObject(regionOf(connection), 0);
      return {
        actuator: settings.actuator,
        header: ANSWER_HEADERS[actuator ?? settings.actuator],
        edge: settings.edge,
        httpProtocol: connection.httpProtocol || null,
        cf: knownFields(cf),
        policyMs: await timed(() => stores.policyBundle()),
        // No client has this key: nothing is found, and nothing is written.
        lookUpMs: await timed(() => stores.lookUp({ keys: { client: "-", network: "-" }, object })),
        budgetMs: settings.budgetMs,
        assets: settings.assets === undefined ? null : { ...settings.assets, paths: [...settings.assets.paths] },
      };
    },
    unstoredKill: {
      held: () => isolate.kill.unstored,
      hold: (kind, author, note) =>
        isolate.kill.hold(kind, author, note, Date.now(), isolate.policyCache.storedRevision),
      settle: () => isolate.kill.settle(),
    },
    changed: async () => isolate.policyCache.renew(stores, Date.now()),
    tokens: settings.tokens,
    failedAttempts,
    corsOrigins: settings.apiOrigins,
    callerAddress: (request) => {
      // Without an edge a caller could name any address, and its failed attempts would count for somebody else.
      if (settings.edge === "none") return undefined;
      const text = request.headers.get("cf-connecting-ip");
      return text === null ? undefined : clientAddress(text)?.client;
    },
    settingsFaults,
    failed: (error) => errorLog.write(error),
  };
}

/** For a client that was in several regions: the reply with the nearest level, and of several the most recent. */
function newest(replies: readonly Remembered[]): Remembered {
  for (const level of ["client", ...UPPER_LEVELS] as const) {
    const having = replies.filter((reply) => reply[level] !== undefined);
    const [first] = having;
    if (first !== undefined)
      return having.reduce((best, reply) => (heardAtMs(reply, level) > heardAtMs(best, level) ? reply : best), first);
  }
  return {};
}

function heardAtMs(reply: Remembered, level: "client" | UpperLevel): number {
  if (level !== "client") return reply[level]?.mix.asOfMs ?? 0;
  const { client, offers } = reply;
  return Math.max(offers?.origins[0]?.answeredAtMs ?? 0, ...(client?.connections ?? []).map(({ atMs }) => atMs));
}

/** Where this deployment may have objects. */
function regionsOf({ settings }: Isolate): readonly Region[] {
  return settings.edge === "cloudflare" ? REGIONS : ["local"];
}

/** Those that hold clients, and what their pages reported: the first of every region, then the second. */
function objectsOf(isolate: Isolate): PathObject[] {
  const regions = regionsOf(isolate);
  return Array.from({ length: isolate.settings.objectsPerRegion }, (_, number) =>
    regions.map((region) => pathObject(region, number)),
  ).flat();
}

/**
 * Of more objects the rest does not answer. Cloudflare lets a request make 10,000 of its own, and 1,000 to Cloudflare's services on the free
 * plan (developers.cloudflare.com/workers/platform/limits, read on 2026-11-25): beyond that, calls fail, and count as not answered.
 */
const ASKED_MAX = 9_000;
/** Objects that are asked at a time. */
const AT_ONCE = 50;

/** How long an object may take to say what it holds, milliseconds: callers of the API wait 10 s. */
const OUTCOMES_MS = 5_000;
/** What this isolate counted comes before that, milliseconds; else it comes later. */
const TELL_MS = 2_000;

function countersPort(env: StoreBindings, isolate: Isolate, stores: Stores): CountersPort {
  return {
    read: async (fromHour) => {
      const regions = env.COUNTERS === undefined ? [] : regionsOf(isolate);
      const [home = "local"] = regions;
      await inTime(
        [async () => isolate.counters.flushAll((to, delta) => stores.count(to, delta), home, Date.now())],
        TELL_MS,
      );
      const answers = regions.map(
        (region) => async () => (await counterStore(env, region)?.read(fromHour)) ?? NO_TALLY,
      );
      const read = (await inTime(answers, OUTCOMES_MS)).filter((tally) => tally !== false);
      return { tally: merged(read), objects: { asked: regions.length, answered: read.length } };
    },
    kept: async () => {
      const objects = objectsOf(isolate);
      const answers = objects.map((object) => async (): Promise<Extent> => pathStore(env, object).extent());
      const parts = (await inTime(answers, OUTCOMES_MS)).filter((part) => part !== false);
      return { parts, asked: objects.length };
    },
  };
}

function outcomesPort(env: StoreBindings, isolate: Isolate): OutcomesPort {
  return {
    outcomes: async (version) => {
      const objects = objectsOf(isolate);
      const gathered = new Gathered(version);
      const answers = objects.map((object) => async () => gathered.add(await outcomesOf(env, object, version)));
      const counted = await inTime(answers, OUTCOMES_MS);
      return { rows: gathered.rows(), objects: { asked: objects.length, answered: counted.filter(Boolean).length } };
    },
    reportsHere: () => isolate.counters.readBy("reports", "fate"),
    droppedHere: () => isolate.counters.readBy("news_dropped", "cause"),
  };
}

async function outcomesOf(env: StoreBindings, object: PathObject, version: number): Promise<readonly OutcomeRow[]> {
  // Over the wire a pair is a list: the type of the call does not know its length.
  return (await pathStore(env, object).outcomes(version)) as unknown as readonly OutcomeRow[];
}

function clientsPort(
  env: StoreBindings,
  isolate: Isolate,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
): ClientsPort {
  const orFail = (hasher: Hasher | undefined): Hasher => {
    if (hasher === undefined) throw new Error("the policy store does not answer");
    return hasher;
  };
  const heldBundle = async (): Promise<CachedPolicy | undefined> => {
    await isolate.policyCache.ready(stores, ctx, Date.now());
    return isolate.policyCache.current;
  };
  const regions = regionsOf(isolate);
  /**
   * A client, in each object that may hold it. Undefined for what is no address.
   *
   * The region in an object's name is the client's, and the caller may be elsewhere: so all regions are asked.
   */
  const inEachRegion = async (text: string, asn?: number): Promise<readonly StoredClient[] | undefined> => {
    const address = clientAddress(text);
    if (address === undefined) return undefined;
    const hasher = orFail(isolate.namer(await heldBundle()));
    const { keys, object } = hasher.named(address, isolate.settings.objectsPerRegion, asn);
    return regions.map((region) => ({ keys, object: pathObject(region, object) }));
  };
  return {
    lookUp: async (text, asn) => {
      const clients = await inEachRegion(text, asn);
      return clients && newest(await Promise.all(clients.map((client) => stores.lookUp(client))));
    },
    forget: async (what, text) => {
      const clients = await inEachRegion(text);
      // A network's clients have names that say nothing of it.
      const forgetHere = (): void =>
        isolate.recent.forget(what === "client" ? clients?.[0]?.keys.client : undefined, Date.now());
      const forgotten = clients?.map(async ({ object, keys: { client, network } }) =>
        pathStore(env, object).forget(what === "client" ? { client } : { network }),
      );
      if (forgotten === undefined) return undefined;
      try {
        return (await Promise.all(forgotten)).filter(Boolean).length;
      } finally {
        // Last: a page meanwhile may have looked it up.
        forgetHere();
      }
    },
    units: async (text, nowMs) => {
      const address = clientAddress(text);
      if (address === undefined) return undefined;
      const hasher = orFail((await heldBundle())?.hasher);
      return {
        activation: hasher.activationUnit(address),
        share: hasher.shareUnit(address),
        exploration: hasher.explorationUnit(address, periodAt(nowMs)),
      };
    },
  };
}

/** The fields of `request.cf` that decisions use, and that have a value here. */
function knownFields(cf: unknown): string[] {
  const fields = typeof cf === "object" && cf !== null ? (cf as Readonly<Record<string, unknown>>) : {};
  const names = ["httpProtocol", "clientTcpRtt", "clientQuicRtt", "edgeL4", "asn", "country", "colo", "continent"];
  return names.filter((name) => ![undefined, null, "", 0].includes(fields[name] as string));
}

/**
 * How long a call takes, milliseconds. On Cloudflare a clock moves only while something is waited for, as here. Null: it failed, or
 * took too long.
 */
async function timed(call: () => Promise<unknown>): Promise<number | null> {
  const beganMs = Date.now();
  const [isDone] = await inTime([async () => call().then(() => true)], PROBE_MS);
  return isDone === true ? Date.now() - beganMs : null;
}

/** What calls come to, a few at a time; false for one that fails, is one too many, or does not end in all these milliseconds. */
async function inTime<T>(calls: readonly (() => Promise<T>)[], ms: number): Promise<(T | false)[]> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolve(false);
  }, ms);
  const came = calls.map((): T | false => false);
  const next = calls.slice(0, ASKED_MAX).entries();
  const callNext = async (): Promise<void> => {
    for (const [i, call] of next) {
      if (isLate) return;
      came[i] = await Promise.race([call().catch(() => false as const), late]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, callNext));
  clearTimeout(timer);
  return came;
}
