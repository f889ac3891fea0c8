import { WorkerEntrypoint } from "cloudflare:workers";
import { CounterStore } from "../durable/counter-store.ts";
import { PathStore } from "../durable/path-store.ts";
import { PolicyStore } from "../durable/policy-store.ts";
import type { Api } from "../policy-api/api/api.ts";
import { apiPorts } from "./api-ports.ts";
import { handleVisitor } from "./handler.ts";
import { Isolate } from "./isolate.ts";
import { cacheNearby } from "./nearby.ts";
import { REPORT_PATH, REPORTER_PATH } from "./reporter/csp.ts";
import { receiveReport } from "./reporter/report-endpoint.ts";
import { serveScript } from "./reporter/serve-script.ts";
import { receiveSamples } from "./sample-listener.ts";
import { readSettings, type SettingsFault, type SettingsSource } from "./settings.ts";
import { durableStores, type StoreBindings, type Stores } from "./stores.ts";
import { visitOf } from "./visit.ts";

export interface Env extends StoreBindings, SettingsSource {
  /** On Cloudflare, if it is bound: a data point of each report (docs/measure-visitors.md). */
  readonly REPORTS?: AnalyticsEngineDataset;
}

interface Assembly {
  readonly isolate: Isolate;
  readonly stores: Stores;
  readonly settingsFaults: readonly SettingsFault[];
}

/** Where the API is, on the site's own host name. Pages' own two paths are below it too, and need none of it. */
const API_PREFIX = "/_h3/";

let assembly: Assembly | undefined;

/** Variables do not change while an isolate lives: its first request reads them. */
function assemble(env: Env): Assembly {
  if (assembly === undefined) {
    const { settings, faults } = readSettings(env);
    for (const { name, message } of faults) console.error(`The variable ${name} ${message}.`);
    const nearby = settings.edge === "cloudflare" ? cacheNearby() : undefined;
    assembly = { isolate: new Isolate(settings, nearby), stores: durableStores(env), settingsFaults: faults };
  }
  return assembly;
}

let api: Api<Env> | undefined;

/** The first call loads the API: an isolate that only serves visitors never runs any of it. */
async function callApi(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
  const { createApi } = await import("../policy-api/api/api.ts");
  api ??= createApi<Env>((itsEnv, itsCtx) => apiPorts(itsEnv, assemble(itsEnv), itsCtx));
  return api.fetch(request, env, ctx);
}

/** Takes the TLS edge's samples, on a socket that visitors cannot reach. */
export class SampleListener extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    const { stores, isolate } = assemble(this.env);
    this.ctx.waitUntil(isolate.storeHealth.checkFirst(this.env, Date.now()));
    return receiveSamples(request, stores, this.ctx, isolate);
  }
}

export { CounterStore, PathStore, PolicyStore };

export default {
  fetch(request, env, ctx) {
    // workerd passes every Host on, and an exception here would be a 500, and a line in the log each time.
    const url = URL.parse(request.url);
    if (url === null)
      return new Response("400 Bad Request: the Host is not one that a URL can have\n", { status: 400 });
    if (url.pathname === REPORTER_PATH) return serveScript(request);
    if (url.pathname.startsWith(API_PREFIX) && url.pathname !== REPORT_PATH) return callApi(request, env, ctx);
    const { isolate, stores } = assemble(env);
    if (url.pathname === REPORT_PATH) return receiveReport(visitOf(request, url, stores, ctx, isolate), env.REPORTS);
    return handleVisitor(request, url, stores, ctx, isolate);
  },
} satisfies ExportedHandler<Env>;
