import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Time limits that only a test that hangs reaches, even on a busy machine. They say nothing about speed. */
const PATIENCE = { testTimeout: 60_000, hookTimeout: 120_000 };

// Tests are beside the source. Tests that need the runtime run in workerd, all others in Node. Tests of a whole system run
// one at a time.
export default defineConfig({
  test: {
    projects: [
      { test: { ...PATIENCE, name: "core", include: ["policy-api/core/*.test.ts"] } },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: {
          ...PATIENCE,
          name: "workerd",
          include: ["worker/*.test.ts", "durable/*.test.ts", "policy-api/http/*.test.ts"],
        },
      },
      {
        test: {
          ...PATIENCE,
          name: "node",
          include: ["infra/*/*.test.ts", "policy-api/{contract,cli}/*.test.ts", "bench/**/*.test.ts"],
          exclude: ["infra/e2e/**", "bench/e2e/**"],
        },
      },
      {
        test: {
          ...PATIENCE,
          name: "e2e",
          include: ["infra/e2e/*.test.ts"],
          globalSetup: ["infra/e2e/build-once.ts"],
          fileParallelism: false,
        },
      },
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
