// What tests of several rooms need to reach into objects. Not imported by anything that is deployed.
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import type { PathStore } from "./path-store.ts";
import type { PolicyStore } from "./policy-store.ts";

/** The bindings of wrangler.toml. */
export const bindings = env as unknown as {
  PATHS: DurableObjectNamespace<PathStore>;
  POLICY: DurableObjectNamespace<PolicyStore>;
};

/** Storage is isolated per test file only: this isolates per test. */
export function freshStorage(): void {
  afterEach(async () => {
    await reset();
  });
}
