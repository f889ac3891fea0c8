import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";

// If a wall's rule stops working, nobody notices. So each line here is a file that breaks a rule, which the linter must find.
const FORBIDDEN: readonly (readonly [file: string, source: string])[] = [
  ["policy-api/core/a.ts", 'import "ipaddr.js";'],
  ["policy-api/core/a.ts", 'import { h } from "../../worker/handler.ts"; h();'],
  ["policy-api/core/a.ts", 'import { h } from "../http/api.ts"; h();'],
  ["policy-api/core/a.ts", 'import "node:fs";'],
  ["policy-api/core/a.ts", 'export * from "../../infra/setup/build.ts";'],
  ["policy-api/core/a.ts", 'import { T } from "./testing.ts"; T();'],
  ["policy-api/core/a.ts", 'import { T } from "./testing-activations.ts"; T();'],
  ["policy-api/core/a.ts", "export const now = Date.now();"],
  ["policy-api/core/a.ts", "export const now = globalThis.Date.now();"],
  ["policy-api/core/a.ts", "export const drawn = Math.random();"],
  ["policy-api/core/below/a.ts", 'import { h } from "../../../infra/setup/build.ts"; h();'],
  ["policy-api/core/a.test.ts", 'import { h } from "../http/api.ts"; h();'],
  ["policy-api/core/a.test.ts", 'import { h } from "../../durable/path-store.ts"; h();'],
  ["policy-api/core/a.ts", 'import type { T } from "../http/ports.ts"; export type U = T;'],
  ["policy-api/core/a.ts", 'export type { T } from "../http/ports.ts";'],
  ["policy-api/core/a.test.ts", 'import { h } from "cloudflare:test"; h();'],
  ["policy-api/core/a.ts", 'import { h } from "../outcomes/sums.ts"; h();'],
  ["policy-api/outcomes/a.ts", 'import "ipaddr.js";'],
  ["policy-api/outcomes/a.ts", 'import { h } from "../http/api.ts"; h();'],
  ["policy-api/outcomes/a.ts", 'import type { T } from "../contract/fields.ts"; export type U = T;'],
  ["policy-api/outcomes/a.ts", 'import { h } from "../../durable/path-store.ts"; h();'],
  ["policy-api/outcomes/a.ts", 'import "node:fs";'],
  ["policy-api/outcomes/a.ts", 'import { T } from "./testing.ts"; T();'],
  ["policy-api/outcomes/a.ts", 'import { T } from "../core/testing.ts"; T();'],
  ["policy-api/outcomes/a.ts", "export const now = Date.now();"],
  ["policy-api/outcomes/a.ts", "export const now = performance.now();"],
  ["policy-api/outcomes/a.ts", "export const drawn = Math.random();"],
  ["policy-api/outcomes/a.test.ts", 'import { h } from "../http/api.ts"; h();'],
  ["policy-api/outcomes/a.test.ts", 'import { h } from "cloudflare:test"; h();'],
  ["policy-api/outcomes/below/a.ts", 'import { h } from "../../../infra/setup/build.ts"; h();'],
  ["policy-api/compiled/a.ts", 'import { h } from "../cli/run.ts"; h();'],
  ["policy-api/compiled/a.ts", 'import { h } from "../outcomes/sums.ts"; h();'],
  ["policy-api/compiled/a.ts", 'import "node:fs";'],
  ["policy-api/compiled/a.ts", "export const now = Date.now();"],
  ["policy-api/doctor/a.ts", 'import { h } from "../cli/run.ts"; h();'],
  ["policy-api/doctor/a.ts", 'import "node:dns";'],
  ["policy-api/doctor/a.ts", "export const now = Date.now();"],
  ["policy-api/contract/a.ts", 'import type { H } from "../http/ports.ts"; export type G = H;'],
  ["policy-api/contract/a.ts", 'import { h } from "../cli/run.ts"; h();'],
  ["policy-api/contract/a.ts", 'import { h } from "hono"; h();'],
  ["policy-api/contract/a.ts", 'import { h } from "node:fs"; h();'],
  ["policy-api/contract/a.ts", 'import { T } from "../core/testing.ts"; T();'],
  ["policy-api/contract/a.test.ts", 'import { h } from "../http/api.ts"; h();'],
  ["policy-api/contract/below/a.ts", 'import { h } from "../../http/api.ts"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "../../worker/handler.ts"; h();'],
  ["policy-api/http/a.ts", 'import type { H } from "../../worker/settings.ts"; export type G = H;'],
  ["policy-api/http/a.ts", 'import { h } from "../../durable/policy-store.ts"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "../cli/run.ts"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "cloudflare:workers"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "node:fs"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "ipaddr.js"; h();'],
  ["policy-api/http/a.ts", 'import { T } from "./testing.ts"; T();'],
  ["policy-api/http/a.test.ts", 'import { h } from "../../durable/policy-store.ts"; h();'],
  ["policy-api/cli/a.ts", 'import { h } from "../http/api.ts"; h();'],
  ["policy-api/cli/a.ts", 'import type { H } from "../http/ports.ts"; export type G = H;'],
  ["policy-api/cli/a.ts", 'import { h } from "../../infra/setup/programs.ts"; h();'],
  ["policy-api/cli/a.ts", 'import { h } from "../../worker/settings.ts"; h();'],
  ["policy-api/cli/a.ts", 'import { h } from "hono"; h();'],
  ["policy-api/cli/a.ts", 'import { h } from "zod"; h();'],
  ["policy-api/cli/a.ts", 'import { T } from "./testing.ts"; T();'],
  ["policy-api/cli/a.ts", 'const h = await import("../http/api.ts"); h.a();'],
  ["policy-api/cli/a.test.ts", 'import { h } from "../http/api.ts"; h();'],
  ["durable/a.ts", 'import { h } from "../worker/handler.ts"; h();'],
  ["durable/a.ts", 'import { h } from "../policy-api/http/api.ts"; h();'],
  ["durable/a.ts", 'import { T } from "../policy-api/core/testing-activations.ts"; T();'],
  ["durable/a.ts", 'import { T } from "../policy-api/outcomes/testing.ts"; T();'],
  ["durable/below/a.ts", 'import { h } from "../../worker/handler.ts"; h();'],
  ["durable/a.ts", 'import type { T } from "../worker/stores.ts"; export type U = T;'],
  ["durable/a.ts", 'import { z } from "zod"; z();'],
  ["durable/a.test.ts", 'import { h } from "../worker/handler.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../bench/overhead.ts"; h();'],
  ["worker/a.ts", 'import { h } from "./testing.ts"; h();'],
  ["worker/a.test.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["worker/a.ts", 'import type { T } from "../infra/setup/build.ts"; export type U = T;'],
  ["worker/a.ts", 'import type { T } from "../policy-api/http/problem.ts"; export type U = T;'],
  ["worker/a.ts", 'import { h } from "../policy-api/outcomes/compare.ts"; h();'],
  ["worker/a.ts", 'export const h = await import("../policy-api/cli/main.ts");'],
  ["worker/a.ts", 'import { Hono } from "hono"; new Hono();'],
  ["worker/a.ts", 'import { h } from "../durable/testing.ts"; h();'],
  ["worker/reporter/a.ts", 'import { Hono } from "hono"; new Hono();'],
  ["worker/reporter/a.ts", 'import { h } from "../../policy-api/http/api.ts"; h();'],
  ["worker/reporter/a.ts", 'import { h } from "../../infra/setup/build.ts"; h();'],
  ["worker/reporter/a.ts", 'import { T } from "../testing.ts"; T();'],
  ["worker/assets/a.ts", 'import { h } from "../reporter/inject.ts"; h();'],
  ["worker/a.ts", 'import { Tokenizer } from "htmlparser2"; new Tokenizer({}, {});'],
  ["worker/reporter/page/a.ts", 'import { h } from "../token.ts"; h();'],
  ["worker/reporter/page/a.ts", 'import { h } from "web-vitals"; h();'],
  ["worker/sample-listener.test.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../base/root.ts"; h();'],
  ["durable/a.ts", 'import { h } from "../base/root.ts"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "../../base/root.ts"; h();'],
  ["base/a.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["base/a.ts", 'import { h } from "hono"; h();'],
  ["infra/faults/a.ts", 'import { h } from "../../worker/handler.ts"; h();'],
  ["infra/faults/a.ts", 'import { h } from "../e2e/harness.ts"; h();'],
  ["infra/faults/a.ts", 'import type { H } from "../../durable/path-store.ts"; export type G = H;'],
  ["infra/faults/a.ts", 'import { h } from "hono"; h();'],
  ["bench/a.ts", 'import { h } from "../worker/handler.ts"; h();'],
  ["bench/a.ts", 'import { h } from "../durable/path-store.ts"; h();'],
  ["bench/model/a.ts", 'import { h } from "../lab/k6.ts"; h();'],
  ["bench/model/a.ts", 'import type { H } from "../lab/k6.ts"; export type A = H;'],
  ["bench/model/a.ts", 'import { h } from "../../infra/setup/build.ts"; h();'],
  ["bench/lab/a.ts", 'import { h } from "../analysis/statistics/normal.ts"; h();'],
  ["bench/lab/a.ts", 'import type { H } from "../harness/run.ts"; export type A = H;'],
  ["bench/lab/a.ts", 'import { h } from "../../worker/handler.ts"; h();'],
  ["bench/analysis/charts/a.ts", 'import { h } from "../../lab/k6.ts"; h();'],
  ["bench/analysis/charts/a.ts", 'import type { H } from "../../harness/results.ts"; export type A = H;'],
  ["bench/analysis/a.ts", 'import { h } from "../lab/k6.ts"; h();'],
  ["bench/harness/a.ts", 'import { h } from "../experiments/smoke/experiment.ts"; h();'],
  ["bench/harness/a.ts", 'import { h } from "../bench.ts"; h();'],
  ["bench/harness/loads/a.ts", 'import type { H } from "../../experiments/smoke/experiment.ts"; export type A = H;'],
  ["bench/harness/loads/a.ts", 'import { h } from "../../pages/recorded.ts"; h();'],
  ["bench/experiments/smoke/a.ts", 'import { h } from "../memory/findings.ts"; h();'],
  ["bench/experiments/smoke/a.ts", 'import type { H } from "../memory/findings.ts"; export type A = H;'],
  ["bench/experiments/smoke/a.ts", 'import { h } from "../../pages/recorded.ts"; h();'],
  ["bench/pages/a.ts", 'import { h } from "../lab/k6.ts"; h();'],
  ["bench/pages/a.ts", 'import type { H } from "../../infra/setup/build.ts"; export type A = H;'],
  ["bench/instrument/k6/a.ts", 'import { h } from "node:fs"; h();'],
  ["bench/instrument/k6/a.ts", 'import type { H } from "../../lab/k6.ts"; export type A = H;'],
];
const ALLOWED: readonly (readonly [file: string, source: string])[] = [
  ["policy-api/core/a.ts", 'import { h } from "./decide.ts"; h();'],
  ["policy-api/core/a.test.ts", 'import { h } from "vitest"; import { T } from "./testing.ts"; h(T);'],
  ["policy-api/outcomes/a.ts", 'import { h } from "./sums.ts"; import { g } from "../core/parse.ts"; h(g);'],
  ["policy-api/outcomes/a.test.ts", 'import { h } from "fast-check"; import { T } from "./testing.ts"; h(T);'],
  [
    "policy-api/contract/a.ts",
    'import { h } from "../core/decide.ts"; import { z } from "@hono/zod-openapi"; import { f } from "./b.ts"; h(z, f);',
  ],
  ["policy-api/http/a.ts", 'import { h } from "../core/decide.ts"; import { g } from "hono"; h(g);'],
  ["policy-api/http/a.ts", 'import { h } from "../contract/api.ts"; import { cors } from "hono/cors"; h(cors);'],
  ["policy-api/http/a.ts", 'import { h } from "../outcomes/propose.ts"; h();'],
  ["policy-api/contract/a.ts", 'import type { T } from "../outcomes/propose.ts"; export type U = T;'],
  ["policy-api/cli/a.ts", 'import { h } from "../outcomes/objections.ts"; h();'],
  ["policy-api/http/testing.ts", 'import { T } from "../core/testing-activations.ts"; T();'],
  [
    "policy-api/cli/a.ts",
    'import { h } from "../core/decide.ts"; import { g } from "node:fs"; import { f } from "./b.ts"; h(g, f);',
  ],
  [
    "policy-api/cli/a.ts",
    'import { hc } from "hono/client"; import { h } from "../contract/api.ts"; import { r } from "../../base/root.ts"; hc(h, r);',
  ],
  ["policy-api/cli/a.test.ts", 'import { T } from "../http/testing.ts"; import { it } from "vitest"; it(T);'],
  ["durable/a.ts", 'import { h } from "../policy-api/core/decide.ts"; h();'],
  ["durable/a.ts", 'import { h } from "../policy-api/outcomes/sums.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../durable/path-store.ts"; import { g } from "../policy-api/http/api.ts"; h(g);'],
  ["worker/a.ts", 'import { h } from "./reporter/ask.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../policy-api/outcomes/gathered.ts"; h();'],
  [
    "worker/reporter/a.ts",
    'import { h } from "../hasher.ts"; import { g } from "../../policy-api/core/decide.ts"; h(g);',
  ],
  ["worker/reporter/a.test.ts", 'import { T } from "../testing.ts"; import fc from "fast-check"; T(fc);'],
  ["worker/sample-listener.test.ts", 'import h from "../infra/edge/testdata/cf.json"; h();'],
  ["base/a.ts", 'import { h } from "node:fs"; import { g } from "./root.ts"; h(g);'],
  [
    "infra/faults/a.ts",
    'import { h } from "./names.ts"; import { g } from "../workerd/system.ts"; import { b } from "../setup/build.ts"; h(g, b);',
  ],
  ["bench/a.ts", 'import { h } from "../policy-api/core/decide.ts"; import { ROOT } from "../base/root.ts"; h(ROOT);'],
  ["bench/model/a.ts", 'import { h } from "./arm.ts"; import { g } from "../../policy-api/core/decide.ts"; h(g);'],
  ["bench/lab/a.ts", 'import { h } from "../model/arm.ts"; import { g } from "../../infra/setup/build.ts"; h(g);'],
  [
    "bench/analysis/charts/a.ts",
    'import { h } from "../statistics/normal.ts"; import { g } from "../../model/arm.ts"; h(g);',
  ],
  ["bench/analysis/population/a.ts", 'import { h } from "../../../policy-api/outcomes/sums.ts"; h();'],
  ["bench/harness/loads/a.ts", 'import { h } from "../run.ts"; import { g } from "../../lab/k6.ts"; h(g);'],
  ["bench/experiments/smoke/a.ts", 'import { h } from "./row.ts"; import { g } from "../../harness/run.ts"; h(g);'],
  ["bench/pages/a.ts", 'import { h } from "../experiments/memory/findings.ts"; h();'],
  ["bench/instrument/k6/a.ts", 'import { h } from "k6/http"; import { g } from "../../model/plan.ts"; h(g);'],
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "h3-walls-"));
  copyFileSync(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file, lints it, and returns the names of the wall rules that it breaks. */
function broken(file: string, source: string): string[] {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, source);
  const lint = spawnSync(process.execPath, [join(ROOT, "node_modules/.bin/oxlint"), "--format=json", path], {
    cwd: folder,
    encoding: "utf8",
  });
  rmSync(path);
  const { diagnostics } = JSON.parse(lint.stdout) as { diagnostics: { code: string }[] };
  return diagnostics.map(({ code }) => code).filter((code) => code.includes("no-restricted"));
}

describe("the walls between the rooms", () => {
  it.each(FORBIDDEN)("%s may not: %s", (file, source) => {
    expect(broken(file, source)).not.toEqual([]);
  });

  it.each(ALLOWED)("%s may: %s", (file, source) => {
    expect(broken(file, source)).toEqual([]);
  });
});
