import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";

// If a wall's rule stops working, nobody notices. So each line of FORBIDDEN breaks a rule of oxlint.config.ts, and the linter must find it.

/** A file, and what it imports; a line with a blank is code. */
type Case = readonly [file: string, ...imports: readonly string[]];

const FORBIDDEN: readonly Case[] = [
  ["base/a.ts", "../infra/setup/build.ts"],
  ["base/a.ts", "hono"],
  ["policy-api/decision/a.ts", "ipaddr.js"],
  ["policy-api/decision/a.ts", "node:fs"],
  ["policy-api/decision/a.ts", "../api/api.ts"],
  ["policy-api/decision/a.ts", "../visitors/sums.ts"],
  ["policy-api/decision/a.ts", "../../worker/handler.ts"],
  ["policy-api/decision/a.ts", "./testing.ts"],
  ["policy-api/decision/a.ts", "./testing-activations.ts"],
  ["policy-api/decision/a.ts", "export * from '../api/ports.ts';"],
  ["policy-api/decision/a.ts", "import type { T } from '../api/ports.ts'; export type U = T;"],
  ["policy-api/decision/a.ts", "export type { T } from '../api/ports.ts';"],
  ["policy-api/decision/a.ts", "export const now = Date.now();"],
  ["policy-api/decision/a.ts", "export const now = performance.now();"],
  ["policy-api/decision/a.ts", "export const now = globalThis.Date.now();"],
  ["policy-api/decision/a.ts", "export const drawn = Math.random();"],
  ["policy-api/decision/below/a.ts", "../../../infra/setup/build.ts"],
  ["policy-api/decision/a.test.ts", "../api/api.ts"],
  ["policy-api/decision/a.test.ts", "cloudflare:test"],
  ["policy-api/decision/compiled/a.ts", "../../cli/run.ts"],
  ["policy-api/decision/compiled/a.ts", "../../visitors/sums.ts"],
  ["policy-api/decision/compiled/a.ts", "export const now = Date.now();"],
  ["policy-api/visitors/a.ts", "node:fs"],
  ["policy-api/visitors/a.ts", "../api/contract/fields.ts"],
  ["policy-api/visitors/a.ts", "../../durable/path-store.ts"],
  ["policy-api/visitors/a.ts", "../decision/testing.ts"],
  ["policy-api/visitors/a.ts", "export const drawn = Math.random();"],
  ["policy-api/visitors/a.test.ts", "../api/api.ts"],
  ["policy-api/api/counters/a.ts", "../ports.ts"],
  ["policy-api/api/counters/a.ts", "export const now = Date.now();"],
  ["policy-api/api/contract/a.ts", "../ports.ts"],
  ["policy-api/api/contract/a.ts", "../../cli/run.ts"],
  ["policy-api/api/contract/a.ts", "hono"],
  ["policy-api/api/contract/a.test.ts", "../api.ts"],
  ["policy-api/api/a.ts", "../../worker/handler.ts"],
  ["policy-api/api/a.ts", "../../durable/policy-store.ts"],
  ["policy-api/api/a.ts", "../cli/run.ts"],
  ["policy-api/api/a.ts", "cloudflare:workers"],
  ["policy-api/api/a.ts", "node:fs"],
  ["policy-api/api/a.ts", "../../base/root.ts"],
  ["policy-api/api/a.ts", "./testing.ts"],
  ["policy-api/api/a.test.ts", "../../durable/policy-store.ts"],
  ["policy-api/cli/a.ts", "../api/api.ts"],
  ["policy-api/cli/a.ts", "const h = await import('../api/api.ts'); h.a();"],
  ["policy-api/cli/a.ts", "./dashboard-page/main.ts"],
  ["policy-api/cli/a.ts", "../../worker/settings.ts"],
  ["policy-api/cli/a.ts", "hono"],
  ["policy-api/cli/a.ts", "zod"],
  ["policy-api/cli/a.ts", "esbuild"],
  ["policy-api/cli/dashboard-server.ts", "uplot"],
  ["policy-api/cli/dashboard-page/a.ts", "node:fs"],
  ["policy-api/cli/doctor/a.ts", "../run.ts"],
  ["policy-api/cli/doctor/a.ts", "node:dns"],
  ["policy-api/cli/cost/a.ts", "export const now = Date.now();"],
  ["policy-api/cli/a.test.ts", "../api/api.ts"],
  ["durable/a.ts", "../worker/handler.ts"],
  ["durable/a.ts", "../policy-api/api/api.ts"],
  ["durable/a.ts", "../policy-api/visitors/testing.ts"],
  ["durable/a.ts", "zod"],
  ["durable/a.ts", "../base/root.ts"],
  ["durable/below/a.ts", "../../worker/handler.ts"],
  ["durable/a.test.ts", "../worker/handler.ts"],
  ["worker/a.ts", "../infra/setup/build.ts"],
  ["worker/a.ts", "../base/root.ts"],
  ["worker/a.ts", "../bench/bench.ts"],
  ["worker/a.ts", "./testing.ts"],
  ["worker/a.ts", "../durable/testing.ts"],
  ["worker/a.ts", "../policy-api/api/problem.ts"],
  ["worker/a.ts", "../policy-api/visitors/compare.ts"],
  ["worker/a.ts", "export const h = await import('../policy-api/cli/main.ts');"],
  ["worker/a.ts", "hono"],
  ["worker/a.ts", "htmlparser2"],
  ["worker/a.test.ts", "../infra/setup/build.ts"],
  ["worker/reporter/a.ts", "hono"],
  ["worker/reporter/a.ts", "../../policy-api/api/api.ts"],
  ["worker/reporter/a.ts", "../testing.ts"],
  ["worker/assets/a.ts", "../reporter/inject.ts"],
  ["worker/reporter/page/a.ts", "../token.ts"],
  ["worker/reporter/page/a.ts", "web-vitals"],
  ["infra/faults/a.ts", "../../worker/handler.ts"],
  ["infra/faults/a.ts", "../../durable/path-store.ts"],
  ["infra/faults/a.ts", "../e2e/harness.ts"],
  ["infra/faults/a.ts", "hono"],
  ["bench/model/a.ts", "../lab/k6.ts"],
  ["bench/lab/a.ts", "../analysis/statistics/random.ts"],
  ["bench/lab/a.ts", "../harness/run.ts"],
  ["bench/lab/a.ts", "../../worker/handler.ts"],
  ["bench/analysis/charts/a.ts", "../../lab/k6.ts"],
  ["bench/analysis/charts/a.ts", "../../harness/results.ts"],
  ["bench/harness/a.ts", "../experiments/smoke/experiment.ts"],
  ["bench/harness/loads/a.ts", "../../experiments/smoke/experiment.ts"],
  ["bench/harness/loads/a.ts", "../../pages/recorded.ts"],
  ["bench/experiments/smoke/a.ts", "../memory/report.ts"],
  ["bench/experiments/smoke/a.ts", "../../pages/recorded.ts"],
  ["bench/experiments/smoke/a.ts", "../../../durable/path-store.ts"],
  ["bench/pages/a.ts", "../lab/k6.ts"],
  ["bench/instrument/k6/a.ts", "node:fs"],
  ["bench/instrument/k6/a.ts", "../../lab/k6.ts"],
];
const ALLOWED: readonly Case[] = [
  ["base/a.ts", "node:fs", "./root.ts"],
  ["policy-api/decision/a.ts", "./decide.ts"],
  ["policy-api/decision/a.test.ts", "vitest", "./testing.ts", "../policies/cubic.json"],
  ["policy-api/decision/compiled/a.ts", "../decide.ts"],
  ["policy-api/visitors/a.ts", "./sums.ts", "../decision/parse.ts"],
  ["policy-api/visitors/a.test.ts", "fast-check", "./testing.ts"],
  ["policy-api/api/contract/a.ts", "../../decision/decide.ts", "../counters/counted.ts", "@hono/zod-openapi", "./b.ts"],
  ["policy-api/api/a.ts", "../decision/decide.ts", "../visitors/propose.ts", "./contract/api.ts", "hono", "hono/cors"],
  ["policy-api/api/testing.ts", "../decision/testing-activations.ts"],
  ["policy-api/cli/a.ts", "../decision/decide.ts", "../visitors/compare.ts", "./cost/bill.ts", "node:fs"],
  ["policy-api/cli/a.ts", "./dashboard-page/data.ts"],
  ["policy-api/cli/a.ts", "hono/client", "../api/contract/api.ts", "../../base/root.ts"],
  ["policy-api/cli/a.test.ts", "../api/testing.ts", "vitest"],
  ["durable/a.ts", "../policy-api/decision/decide.ts", "../policy-api/visitors/sums.ts", "cloudflare:workers"],
  ["worker/a.ts", "../durable/path-store.ts", "../policy-api/api/api.ts", "../policy-api/visitors/gathered.ts"],
  ["worker/a.ts", "./reporter/ask.ts"],
  ["worker/a.test.ts", "../infra/edge/testdata/cf.json", "cloudflare:test"],
  ["worker/reporter/a.ts", "../hasher.ts", "../../policy-api/decision/decide.ts"],
  ["worker/reporter/a.test.ts", "../testing.ts", "fast-check"],
  ["infra/faults/a.ts", "./names.ts", "../workerd/system.ts"],
  ["bench/model/a.ts", "./arm.ts", "../../policy-api/decision/decide.ts"],
  ["bench/lab/a.ts", "../model/arm.ts", "playwright-core"],
  [
    "bench/analysis/charts/a.ts",
    "../statistics/random.ts",
    "../../model/arm.ts",
    "../../../policy-api/visitors/sums.ts",
  ],
  ["bench/harness/loads/a.ts", "../run.ts", "../../lab/k6.ts"],
  ["bench/experiments/smoke/a.ts", "./row.ts", "../../harness/run.ts"],
  ["bench/pages/a.ts", "../experiments/memory/report.ts"],
  ["bench/instrument/k6/a.ts", "k6/http", "../../model/plan.ts"],
];

const folder = mkdtempSync(join(tmpdir(), "h3-walls-"));
/** The files in which the linter found a wall rule broken. */
let broken: ReadonlySet<string>;

/** The case's file, under a name of its own, except where the rule is about the name. */
const fileOf = (kind: string, index: number, file: string) =>
  join(folder, dirname(file), basename(file).replace(/^a\./, `${kind}${index}.`));

beforeAll(() => {
  copyFileSync(join(ROOT, "oxlint.config.ts"), join(folder, "oxlint.config.ts"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [kind, cases] of Object.entries({ f: FORBIDDEN, a: ALLOWED }))
    for (const [index, [file, ...imports]] of cases.entries()) {
      const source = imports.map((one, at) =>
        one.includes(" ") ? one : `import { h as h${at} } from "${one}"; h${at}();`,
      );
      const path = fileOf(kind, index, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, source.join("\n"), { flag: "a" });
    }
  const lint = spawnSync(process.execPath, [join(ROOT, "node_modules/.bin/oxlint"), "--format=json", "."], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  const { diagnostics } = JSON.parse(lint.stdout) as { diagnostics: { code?: string; filename: string }[] };
  broken = new Set(
    diagnostics.filter(({ code }) => code?.includes("no-restricted")).map(({ filename }) => join(folder, filename)),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the walls between the rooms", () => {
  it.each(FORBIDDEN.map((one, index) => [index, ...one] as const))("%i: %s may not import %s", (index, file) => {
    expect(broken).toContain(fileOf("f", index, file));
  });

  it.each(ALLOWED.map((one, index) => [index, ...one] as const))("%i: %s may import %s", (index, file) => {
    expect(broken).not.toContain(fileOf("a", index, file));
  });
});
