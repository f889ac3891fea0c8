// How tests of several rooms reach into objects. Nothing that is deployed imports it.
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import type { CounterStore } from "./counter-store.ts";
import type { PathStore } from "./path-store.ts";
import type { PolicyStore } from "./policy-store.ts";

/** The bindings of wrangler.toml. */
export const bindings = env as unknown as {
  PATHS: DurableObjectNamespace<PathStore>;
  POLICY: DurableObjectNamespace<PolicyStore>;
  COUNTERS: DurableObjectNamespace<CounterStore>;
};

/** The test runner isolates storage for each file only. This isolates it for each test. */
export function freshStorage(): void {
  afterEach(async () => {
    await reset();
  });
}
