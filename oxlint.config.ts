import { defineConfig, type OxlintOverride } from "oxlint";

// What may import what, and the rules for all files. A new folder gets its line in ROOMS.

/** What a room may import besides its own files, as it stands in an import: other rooms by relative path, and packages. */
interface Room {
  readonly folder: string;
  /** Rooms and packages that its files may import. */
  readonly may: readonly string[];
  /** What its tests may import besides. */
  readonly tests?: readonly string[];
  /** Pure files take the time and chance as arguments. */
  readonly pure?: true;
}

const NODE = ["node:*", "node:*/*"];
const TEST = ["vitest", "fast-check"];
const DECISION = "policy-api/decision/**";
const VISITORS = "policy-api/visitors/**";

/** `up` leads from a room's files to the root. */
const at = (up: string, ...paths: readonly string[]): string[] => paths.map((path) => `${up}/${path}`);

/** The lowest rooms first. A room below another in the tree stands after it. */
const ROOMS: readonly Room[] = [
  { folder: "base", may: NODE, tests: TEST },
  { folder: "policy-api/decision", may: [], tests: [...TEST, "@cfworker/json-schema", "../policies/**"], pure: true },
  { folder: "policy-api/decision/compiled", may: ["../*.ts"], tests: [...TEST, "../../policies/**"], pure: true },
  { folder: "policy-api/visitors", may: ["../decision/*.ts"], tests: [...TEST, "../policies/**"], pure: true },
  {
    folder: "policy-api/api",
    may: [
      "./contract/*.ts",
      "./counters/*.ts",
      "../decision/*.ts",
      "../visitors/*.ts",
      "@hono/zod-openapi",
      "hono",
      "hono/**",
    ],
    tests: [...TEST, "@cfworker/json-schema", "../policies/*.json"],
  },
  { folder: "policy-api/api/counters", may: ["../../decision/*.ts", "../../visitors/*.ts"], tests: TEST, pure: true },
  {
    folder: "policy-api/api/contract",
    may: ["../counters/*.ts", "../../decision/*.ts", "../../visitors/*.ts", "@hono/zod-openapi"],
    tests: TEST,
  },
  {
    folder: "policy-api/cli",
    may: [
      "./dashboard-page/data.ts",
      "./cost/*.ts",
      "./doctor/*.ts",
      "../api/contract/*.ts",
      "../api/counters/*.ts",
      "../decision/*.ts",
      "../decision/compiled/*.ts",
      "../visitors/*.ts",
      "../../base/*.ts",
      "hono/client",
      "wrap-ansi",
      ...NODE,
    ],
    tests: [...TEST, "@hono/node-server", "../api/testing.ts"],
  },
  { folder: "policy-api/cli/cost", may: ["../../decision/*.ts", "../../visitors/*.ts"], tests: TEST, pure: true },
  { folder: "policy-api/cli/doctor", may: ["../../decision/*.ts", "../../visitors/*.ts"], tests: TEST, pure: true },
  {
    folder: "policy-api/cli/dashboard-page",
    may: ["../quantities.ts", "../../decision/*.ts", "../../api/counters/*.ts", "../../api/contract/*.ts", "uplot"],
    tests: TEST,
  },
  {
    folder: "durable",
    may: [...at("..", DECISION, VISITORS, "policy-api/api/counters/*.ts"), "cloudflare:workers"],
    tests: [...TEST, "cloudflare:test"],
  },
  {
    folder: "worker",
    may: [
      "./reporter/*",
      "./assets/*",
      ...at("..", "durable/*", DECISION, "policy-api/visitors/{gathered,page-*,counted-pages,parse-cf-l4}.ts"),
      ...at("..", "policy-api/api/counters/*.ts", "policy-api/api/{api,failed-attempts,ports,tokens}.ts"),
      "cloudflare:workers",
      "ipaddr.js",
      "@noble/hashes/*",
    ],
    tests: [
      ...at(
        "..",
        VISITORS,
        "policy-api/api/*",
        "policy-api/cli/cost/*",
        "policy-api/policies/*",
        "infra/edge/testdata/*",
      ),
      "cloudflare:test",
      "vitest",
    ],
  },
  {
    folder: "worker/{reporter,assets,pages}",
    may: ["../*.ts", "../pages/*", ...at("../..", "durable/*", DECISION, VISITORS), "htmlparser2"],
    tests: [...TEST, "cloudflare:test"],
  },
  { folder: "worker/reporter/page", may: [] },
  {
    folder: "infra/faults",
    may: [...NODE, "../setup/*.ts", "../workerd/*.ts", "../../base/*.ts", ...at("../..", DECISION, VISITORS)],
    tests: TEST,
  },
  { folder: "bench/model", may: [...NODE, ...at("../..", "base/**", DECISION, VISITORS), "d3-dsv"], tests: TEST },
  {
    folder: "bench/lab",
    may: [
      ...NODE,
      "../model/**",
      ...at("../..", "base/**", DECISION, VISITORS, "infra/setup/**", "infra/workerd/**"),
      "playwright-core",
      "puppeteer-core",
    ],
    tests: TEST,
  },
  {
    folder: "bench/analysis",
    may: [
      ...NODE,
      ...at(
        "..",
        "calibrate/**",
        "charts/**",
        "evaluation/**",
        "loads/**",
        "population/**",
        "senders/**",
        "statistics/**",
        "tables/**",
      ),
      "../../model/**",
      ...at("../../..", "base/**", DECISION, VISITORS),
      "eta",
      "prettier",
      "vega",
      "vega-lite",
    ],
    tests: TEST,
  },
  {
    folder: "bench/harness",
    may: [
      ...NODE,
      ...["../", "../../"].flatMap((up) => [`${up}model/**`, `${up}analysis/**`, `${up}lab/**`, `${up}harness/**`]),
      "../*.ts",
      ...["../..", "../../.."].flatMap((up) =>
        at(up, "base/**", DECISION, VISITORS, "infra/setup/**", "infra/workerd/**"),
      ),
      "d3-dsv",
      "vega-lite",
    ],
    tests: TEST,
  },
  {
    folder: "bench/experiments",
    may: [
      ...NODE,
      ...at("../..", "model/**", "analysis/**", "lab/**", "harness/**"),
      ...at("../../..", "base/**", DECISION, VISITORS, "infra/setup/**", "infra/workerd/**"),
      "vega-lite",
      "playwright-core",
      "puppeteer-core",
      "prettier",
    ],
    tests: TEST,
  },
  {
    folder: "bench/pages",
    may: [
      ...NODE,
      ...at("..", "model/**", "analysis/**", "harness/**", "experiments/**"),
      ...at("../..", "base/**", DECISION, VISITORS),
    ],
    tests: [...TEST, "../../policy-api/cli/cost/*.ts"],
  },
  {
    folder: "bench/instrument",
    may: ["k6", "k6/**", "../../model/**", ...at("../../..", DECISION, VISITORS)],
    tests: TEST,
  },
];

const restricted = (
  folder: string,
  may: readonly string[],
  testing: boolean,
): NonNullable<OxlintOverride["rules"]> => ({
  "no-restricted-imports": [
    "error",
    {
      patterns: [
        {
          group: [
            "**",
            folder.startsWith("bench/") ? "!./**" : "!./*",
            ...may.map((one) => `!${one}`),
            ...(testing ? [] : ["**/testing.ts", "**/testing-*.ts"]),
          ],
          message: `${testing ? "tests of " : ""}${folder} may import only its own files${may.map((one) => `, ${one}`).join("")}${testing ? "" : "; testing.ts is for tests"}`,
        },
      ],
    },
  ],
});

const PURE: NonNullable<OxlintOverride["rules"]> = {
  "no-restricted-globals": [
    "error",
    { name: "Date", message: "pass nowMs as an argument" },
    { name: "performance", message: "pass nowMs as an argument" },
    { name: "globalThis", message: "pure files must not use a platform's globals" },
  ],
  "no-restricted-properties": ["error", { object: "Math", property: "random", message: "pass rand as an argument" }],
};

const room = ({ folder, may, tests, pure }: Room): OxlintOverride[] => [
  { files: [`${folder}/**/*.ts`], rules: { ...restricted(folder, may, false), ...(pure && PURE) } },
  ...(tests === undefined
    ? []
    : [
        {
          files: [`${folder}/**/*.test.ts`, `${folder}/**/testing*.ts`],
          rules: restricted(folder, [...may, ...tests], true),
        },
      ]),
];

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "vitest", "promise"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  rules: {
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "typescript/consistent-type-imports": "error",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "vitest/no-focused-tests": "error",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/no-disabled-tests": "error",
    "no-console": "error",
    "no-restricted-globals": "off",
    "no-await-in-loop": "off",
    "oxc/no-map-spread": "off",
    "import/no-named-as-default-member": "off",
    "typescript/consistent-return": "off",
    "vitest/no-conditional-expect": "off",
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "unicorn/prefer-add-event-listener": "off",
    "typescript/no-unsafe-type-assertion": "off",
  },
  // The template is checked where it stands alone (infra/e2e/deploying.test.ts).
  ignorePatterns: [
    "dist",
    "node_modules",
    ".wrangler",
    ".adaptive-h3",
    "worker-configuration.d.ts",
    "infra/cloudflare/template",
  ],
  overrides: [
    ...ROOMS.flatMap(room),
    {
      files: ["policy-api/cli/dashboard-server.ts"],
      rules: restricted(
        "the dashboard's server",
        ["./dashboard-page/data.ts", "../decision/*.ts", "../api/{contract,counters}/*.ts", "esbuild", ...NODE],
        false,
      ),
    },
    {
      files: [
        "worker/{decision-log,log,worker}.ts",
        "base/run-main.ts",
        "infra/**/*.{ts,mjs}",
        "policy-api/cli/**/*.ts",
        "bench/**/*.ts",
      ],
      rules: { "no-console": "off" },
    },
    { files: ["docs/examples/**/*.js"], rules: { "typescript/no-misused-promises": "off" } },
    {
      files: ["worker/worker.ts", "infra/workerd/emulate.ts", "**/*.config.ts", "infra/cloudflare/**/*.ts"],
      rules: { "import/no-default-export": "off" },
    },
  ],
});
