import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Not how fast anything is: how long nothing here runs unless it hangs, on a machine that others share. */
const PATIENCE = { testTimeout: 60_000, hookTimeout: 120_000 };

// Tests stand beside the source. What needs the runtime runs in workerd; the rest in Node; whole systems one at a time.
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
      // The bench on real network namespaces: needs root, so that `npm test` leaves it to `npm run test:bench`.
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
      // With a server that takes minutes to build: `npm run test:quiche`.
      { test: { ...PATIENCE, name: "quiche", include: ["bench/e2e/quiche.test.ts"] } },
    ],
  },
});
