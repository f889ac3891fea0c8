import { PathStore } from "../durable/path-store.ts";
import { PolicyStore } from "../durable/policy-store.ts";
import { API_PREFIX, createApi } from "../policy-api/http/api.ts";
import { handleVisitor } from "./handler.ts";
import { Isolate } from "./isolate.ts";
import { sampleListener } from "./sample-listener.ts";
import { readSettings, type SettingsFault, type SettingsSource } from "./settings.ts";
import { durableStores, policyStore, type StoreBindings, type Stores } from "./stores.ts";

export interface Env extends StoreBindings, SettingsSource {
  /** Secret. Without it the writing side of the API is off. */
  readonly POLICY_TOKEN?: string | null;
}

interface Assembly {
  readonly isolate: Isolate;
  readonly stores: Stores;
  readonly settingsFaults: readonly SettingsFault[];
}

let assembly: Assembly | undefined;

/** Variables do not change while an isolate lives: they are read with its first request. */
function assemble(env: Env): Assembly {
  if (assembly === undefined) {
    const { settings, faults } = readSettings(env);
    for (const { name, message } of faults) console.error(`The variable ${name} ${message}.`);
    assembly = { isolate: new Isolate(settings), stores: durableStores(env), settingsFaults: faults };
  }
  return assembly;
}

const api = createApi<Env>((env) => {
  const { isolate, stores, settingsFaults } = assemble(env);
  return {
    store: {
      current: async () => (await policyStore(env).bundle()).inForce,
      put: async (policy) => policyStore(env).put(policy),
    },
    token: env.POLICY_TOKEN || undefined,
    policyChanged: async (inForce) => {
      const nowMs = Date.now();
      if (!isolate.policy.install(inForce, nowMs)) await isolate.policy.renew(stores, nowMs);
    },
    settingsFaults,
  };
});

/** The edge's samples come in here, on a socket of their own that visitors cannot reach. */
export const SampleListener = sampleListener<Env>(assemble);
export { PathStore, PolicyStore };

export default {
  fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (url.pathname.startsWith(API_PREFIX)) return api.fetch(request, env, ctx);
    const { isolate, stores } = assemble(env);
    return handleVisitor(request, url, stores, ctx, isolate);
  },
} satisfies ExportedHandler<Env>;
