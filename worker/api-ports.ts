import { ANSWER_HEADERS } from "../policy-api/decision/alt-svc.ts";
import { merged } from "../policy-api/api/counters/counted.ts";
import { FailedAttempts } from "../policy-api/api/failed-attempts.ts";
import type { CountersPort, OutcomesPort, PolicyApiPorts } from "../policy-api/api/ports.ts";
import { Gathered, type OutcomeRow } from "../policy-api/visitors/gathered.ts";
import { clientAddress } from "./address.ts";
import { clientsPort } from "./api-clients.ts";
import { connectionFacts, servingStack } from "./cf.ts";
import { inTime } from "./in-time.ts";
import type { Isolate } from "./isolate.ts";
import { LimitedLog } from "./log.ts";
import { regionOf, regionsOf } from "./region.ts";
import type { SettingsFault } from "./settings.ts";
import {
  counterStore,
  pathObject,
  type PathObject,
  pathStore,
  policyStore,
  type StoreBindings,
  type Stores,
} from "./stores.ts";

const failedAttempts = new FailedAttempts();
const errorLog = new LimitedLog("The API failed inside");

/** The TLS edge speaks every 250 ms. What it said is old after this time, milliseconds. */
const EDGE_SILENT_MS = 10_000;

/** How long a call of the store may take in a probe, milliseconds. */
const PROBE_MS = 2_000;
/** How long an object may take to say what it holds, milliseconds: callers of the API wait 10 s. */
const OUTCOMES_MS = 5_000;
/** What this isolate counted comes before that, milliseconds; else it comes later. */
const FLUSH_MS = 2_000;

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
      const { state, atMs } = isolate.edgeHttp3;
      return Math.abs(Date.now() - atMs) > EDGE_SILENT_MS ? "unknown" : state;
    },
    udpBuffers: () => (Math.abs(Date.now() - isolate.edgeHttp3.atMs) > EDGE_SILENT_MS ? null : isolate.udpBuffers),
    servingStack: ({ cf }) => servingStack(cf, settings),
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

/** The objects that hold clients, and what their pages reported: the first of every region, then the second. */
function objectsOf({ settings }: Isolate): PathObject[] {
  const numbers = Array.from({ length: settings.objectsPerRegion }, (_, number) => number);
  return numbers.flatMap((number) => regionsOf(settings).map((region) => pathObject(region, number)));
}

function countersPort(env: StoreBindings, isolate: Isolate, stores: Stores): CountersPort {
  return {
    read: async (fromHour) => {
      const regions = regionsOf(isolate.settings);
      const [home] = regions;
      const send: Stores["count"] = (region, delta) => stores.count(region, delta);
      await inTime([async () => isolate.counters.flushAll(send, home, Date.now())], FLUSH_MS);
      const tallies = await inTime(
        regions.map((region) => async () => counterStore(env, region).read(fromHour)),
        OUTCOMES_MS,
      );
      return { tally: merged(tallies), objects: { asked: regions.length, answered: tallies.length } };
    },
    kept: async () => {
      const objects = objectsOf(isolate);
      const extents = objects.map((object) => async () => pathStore(env, object).extent());
      return { parts: await inTime(extents, OUTCOMES_MS), asked: objects.length };
    },
  };
}

function outcomesPort(env: StoreBindings, isolate: Isolate): OutcomesPort {
  return {
    outcomes: async (version) => {
      const objects = objectsOf(isolate);
      const gathered = new Gathered(version);
      const answers = objects.map((object) => async () => {
        // Over the wire a pair is a list: the type of the call does not know its length.
        gathered.add((await pathStore(env, object).outcomes(version)) as unknown as readonly OutcomeRow[]);
      });
      const { length: answered } = await inTime(answers, OUTCOMES_MS);
      return { gathered, objects: { asked: objects.length, answered } };
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
  return (await inTime([call], PROBE_MS)).length > 0 ? Date.now() - beganMs : null;
}
