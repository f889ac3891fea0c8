import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";

// Walls that nobody runs into are not seen to have fallen: each line here is a file that must not be.
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
  ["durable/below/a.ts", 'import { h } from "../../worker/handler.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../bench/overhead.ts"; h();'],
  ["worker/a.ts", 'import { h } from "./testing.ts"; h();'],
  ["worker/a.test.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["worker/sample-listener.test.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["worker/a.ts", 'import { h } from "../base/root.ts"; h();'],
  ["durable/a.ts", 'import { h } from "../base/root.ts"; h();'],
  ["policy-api/http/a.ts", 'import { h } from "../../base/root.ts"; h();'],
  ["base/a.ts", 'import { h } from "../infra/setup/build.ts"; h();'],
  ["base/a.ts", 'import { h } from "hono"; h();'],
  ["bench/a.ts", 'import { h } from "../worker/handler.ts"; h();'],
  ["bench/a.ts", 'import { h } from "../durable/path-store.ts"; h();'],
];
const ALLOWED: readonly (readonly [file: string, source: string])[] = [
  ["policy-api/core/a.ts", 'import { h } from "./decide.ts"; h();'],
  ["policy-api/core/a.test.ts", 'import { h } from "vitest"; import { T } from "./testing.ts"; h(T);'],
  [
    "policy-api/contract/a.ts",
    'import { h } from "../core/decide.ts"; import { z } from "@hono/zod-openapi"; import { f } from "./b.ts"; h(z, f);',
  ],
  ["policy-api/http/a.ts", 'import { h } from "../core/decide.ts"; import { g } from "hono"; h(g);'],
  ["policy-api/http/a.ts", 'import { h } from "../contract/api.ts"; import { cors } from "hono/cors"; h(cors);'],
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
  ["worker/a.ts", 'import { h } from "../durable/path-store.ts"; import { g } from "../policy-api/http/api.ts"; h(g);'],
  ["worker/sample-listener.test.ts", 'import h from "../infra/edge/testdata/cf.json"; h();'],
  ["base/a.ts", 'import { h } from "node:fs"; import { g } from "./root.ts"; h(g);'],
  ["bench/a.ts", 'import { h } from "../policy-api/core/decide.ts"; import { ROOT } from "../base/root.ts"; h(ROOT);'],
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "h3-walls-"));
  copyFileSync(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The names of the wall rules that a file breaks. */
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
