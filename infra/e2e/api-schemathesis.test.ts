import { randomInt } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { fixed, startTestSystem, testFolder, TOKEN } from "./harness.ts";
import { startRelay } from "./relay.ts";
import { type Pass, runSchemathesis } from "./schemathesis/run.ts";

// In `npm test` a run of half a minute; `npm run test:api` runs minutes, with a seed of its own (SEED repeats one), and
// records what it did.
const FULL = process.env["SCHEMATHESIS_RUN"] === "full";
const SEED = FULL ? Number(process.env["SEED"] ?? randomInt(2 ** 31)) : 1;
const RECORD = join(ROOT, "infra/e2e/schemathesis/results/full.json");

// A pass without a bound on its time covers every bound of every field. Of sequences it draws few: Hypothesis ends a phase
// when the same draw meets another state of the store, so that these are drawn anew and anew in a pass of their own.
const PASSES: readonly Pass[] = [
  { phases: ["examples", "coverage", "fuzzing", "stateful"], examples: FULL ? 150 : 15 },
  { phases: ["stateful"], examples: 50, seconds: FULL ? 120 : 10 },
];

it(
  "does what its document says, whoever asks whatever in whatever order",
  { timeout: FULL ? 900_000 : 150_000 },
  async () => {
    const system = await startTestSystem();
    // So that the document's examples name versions that there are.
    for (const maxS of [1, 2, 3]) await system.putPolicy(fixed("fixed-h3", maxS));
    // Through the TLS edge, as callers come. Each connection is from an address of its own: the probes with a wrong token,
    // which come over new ones, are not too many from anywhere.
    let connections = 0;
    const relay = await startRelay(system.port, () => {
      connections++;
      return `127.7.${(connections >> 8) & 255}.${connections & 255}`;
    });
    const startedAtMs = performance.now();
    const { failures, ...report } = await runSchemathesis({
      url: `https://localhost:${relay.port}/_h3/v1/openapi.json`,
      ca: join(system.stateDir, "dev-cert.pem"),
      token: TOKEN,
      folder: testFolder(),
      seed: SEED,
      passes: PASSES,
    });
    const seconds = Math.round((performance.now() - startedAtMs) / 1000);
    const followed = Object.values(report.links).filter((replies) =>
      Object.keys(replies).some((status) => /^[23]/.test(status)),
    );
    if (FULL) {
      mkdirSync(join(RECORD, ".."), { recursive: true });
      const record = {
        command: `SEED=${SEED} npm run test:api`,
        seed: SEED,
        failures: failures.length,
        seconds,
        connections,
        ...report,
      };
      writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
    }
    console.log(failures.join("\n"), JSON.stringify({ ...report, seconds, links: followed.length }));

    expect(failures).toEqual([]);
    expect(report.requests).toBeGreaterThan(2_000);
    expect(Object.keys(report.replies).filter((status) => !/^[234]\d\d$/.test(status) || status === "429")).toEqual([]);
    expect(Object.keys(report.requestsByPhase)).toEqual(["examples", "coverage", "fuzzing", "stateful"]);
    expect(Object.entries(report.checks).filter(([, ended]) => Object.keys(ended).join() !== "success")).toEqual([]);
    expect(Object.keys(report.checks)).toEqual(expect.arrayContaining(CHECKS));
    expect(report.scenarios).toBeGreaterThan(FULL ? 300 : 30);
    // Links of the document that a second call followed, and was answered.
    expect(followed.length).toBeGreaterThan(FULL ? 30 : 10);
  },
);

const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "positive_data_acceptance",
  "missing_required_header",
  "unsupported_method",
  "allow_header_conformance",
  "use_after_free",
  "ensure_resource_availability",
  "ignored_auth",
  "object_level_authorization",
];
