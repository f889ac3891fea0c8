import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Time limits that only a test that hangs reaches, even on a busy machine. They say nothing about speed. */
const PATIENCE = { testTimeout: 60_000, hookTimeout: 120_000 };

/** Tests of the whole system that measure time or load, or that a busy machine makes fail. Each runs alone. */
const ALONE = [
  "assets",
  "attacks",
  "autopilot",
  "browser",
  "demo",
  "faults",
  "marker",
  "reporter",
  "samples",
  "start",
  "supervision",
].map((name) => `infra/e2e/${name}.test.ts`);

const E2E = { ...PATIENCE, globalSetup: ["infra/e2e/build-once.ts"] };

/** For tests that compute: all cores. Vitest would leave one idle. */
const COMPUTING = { maxWorkers: "100%" };

// Tests are beside the source. Tests that need the runtime run in workerd, all others in Node.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...PATIENCE,
          ...COMPUTING,
          name: "core",
          include: ["policy-api/{decision,decision/compiled,visitors,api/counters,cli/cost,cli/doctor}/*.test.ts"],
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: {
          ...PATIENCE,
          ...COMPUTING,
          name: "workerd",
          include: ["worker/**/*.test.ts", "durable/*.test.ts", "policy-api/api/*.test.ts"],
        },
      },
      {
        test: {
          ...PATIENCE,
          ...COMPUTING,
          name: "node",
          include: ["infra/*/*.test.ts", "policy-api/{api/contract,cli}/*.test.ts", "bench/**/*.test.ts"],
          exclude: ["infra/e2e/**", "bench/e2e/**"],
        },
      },
      // The whole system. These tests mostly wait, so several run at a time: each has its own ports and folders.
      {
        test: {
          ...E2E,
          name: "e2e",
          include: ["infra/e2e/*.test.ts"],
          exclude: ALONE,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...E2E, name: "e2e-alone", include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } } },
      // The bench on real network namespaces. It needs root, so `npm run test:bench` runs it, and `npm test` does not.
      {
        test: {
          ...PATIENCE,
          name: "bench",
          include: ["bench/e2e/*.test.ts"],
          exclude: ["bench/e2e/quiche.test.ts"],
          fileParallelism: false,
          testTimeout: 600_000,
        },
      },
      // These need a server that takes minutes to build. `npm run test:quiche` runs them.
      { test: { ...PATIENCE, name: "quiche", include: ["bench/e2e/quiche.test.ts"] } },
    ],
  },
});
