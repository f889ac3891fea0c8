import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

// Tests stand beside the source. What needs the runtime runs in workerd; the rest in Node; whole systems one at a time.
export default defineConfig({
  test: {
    projects: [
      { test: { name: "core", include: ["policy-api/core/*.test.ts"] } },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: { name: "workerd", include: ["worker/*.test.ts", "durable/*.test.ts", "policy-api/http/*.test.ts"] },
      },
      {
        test: {
          name: "node",
          include: ["infra/*/*.test.ts", "policy-api/cli/*.test.ts", "bench/**/*.test.ts"],
          exclude: ["infra/e2e/**", "bench/e2e/**"],
        },
      },
      {
        test: {
          name: "e2e",
          include: ["infra/e2e/*.test.ts"],
          globalSetup: ["infra/e2e/build-once.ts"],
          fileParallelism: false,
          // Real servers and a real browser on a shared machine; nothing here waits this long unless it has failed.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      // The bench on real network namespaces: needs root, so that `npm test` leaves it to `npm run test:bench`.
      { test: { name: "bench", include: ["bench/e2e/*.test.ts"], fileParallelism: false, testTimeout: 600_000 } },
    ],
  },
});
