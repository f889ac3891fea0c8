import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Time limits that only a test that hangs reaches, even on a busy machine. They say nothing about speed. */
const PATIENCE = { testTimeout: 60_000, hookTimeout: 120_000 };

/** Tests of the whole system that measure time or load, or that a busy machine makes fail. Each runs alone. */
const ALONE = ["assets", "attacks", "browser", "demo", "faults", "samples", "start", "supervision"].map(
  (name) => `infra/e2e/${name}.test.ts`,
);

/** They wait for reports to be written most of the time, and do not bear three. So these two run together. */
const TWO = ["autopilot", "reporter"].map((name) => `infra/e2e/${name}.test.ts`);

/** The longest files of several at a time, the longest first: one that began last would run by itself. */
const LONGEST = [
  "doctor",
  "operating",
  "fault-harness",
  "decision-examples",
  "api-schemathesis",
  "deploying",
  "crashes",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`infra/e2e/${name}.test.ts`));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const E2E = { ...PATIENCE, globalSetup: ["infra/e2e/build-once.ts"] };

/** For tests that compute: all cores. Vitest would leave one idle. */
const COMPUTING = { maxWorkers: "100%" };

// Tests are beside the source. Tests that need the runtime run in workerd, all others in Node.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
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
          exclude: [...ALONE, ...TWO],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...E2E, name: "e2e-two", include: TWO, maxWorkers: 2, sequence: { groupOrder: 2 } } },
      { test: { ...E2E, name: "e2e-alone", include: ALONE, maxWorkers: 1, sequence: { groupOrder: 3 } } },
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
