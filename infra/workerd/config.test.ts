import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { ROOT } from "../../base/root.ts";

const capnp = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
const config = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });

it("workerd and wrangler run the same worker the same way", () => {
  expect(/compatibilityDate = "(.*)"/.exec(capnp)?.[1]).toBe(config.compatibility_date);
  expect(capnp).not.toContain("compatibilityFlags");
  expect(config.compatibility_flags).toEqual([]);
  for (const { name, class_name: className } of config.durable_objects.bindings) {
    expect(capnp).toContain(`( name = "${name}", durableObjectNamespace = "${className}" )`);
    expect(capnp).toContain(`className = "${className}"`);
  }
});

it("no cache is in front of the worker: it would send one client's Alt-Svc to all", () => {
  expect((config as { cache?: unknown }).cache).toBeUndefined();
});

it("invocations are not logged, because that log holds the visitor's address", () => {
  const { observability } = config;
  expect(observability?.enabled).not.toBe(true);
  expect(observability?.logs).toMatchObject({ enabled: true, invocation_logs: false });
});
