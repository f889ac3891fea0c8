// Only here: the API as served, against its document, by a tool that knows only the document.
import { randomInt } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { fixed, startTestSystem, testFolder, TOKEN } from "./harness.ts";
import { startRelay } from "./relay.ts";
import { type Pass, runSchemathesis } from "./schemathesis/run.ts";

// `npm test` runs this for half a minute. `npm run test:api` runs it for minutes, with a new seed (SEED repeats one), and
// records what it did.
const FULL = process.env["SCHEMATHESIS_RUN"] === "full";
const SEED = FULL ? Number(process.env["SEED"] ?? randomInt(2 ** 31)) : 1;
const RECORD = join(ROOT, "infra/e2e/schemathesis/results/full.json");

// A pass without a time limit covers every bound of every field. It draws few sequences, because Hypothesis ends a phase when
// the same draw meets another state of the store. So a separate pass draws sequences again and again.
const PASSES: readonly Pass[] = [
  { phases: ["examples", "coverage", "fuzzing", "stateful"], examples: FULL ? 150 : 15 },
  { phases: ["stateful"], examples: 50, seconds: FULL ? 120 : 10 },
];

it(
  "the API does what its document says, for any calls in any order",
  { timeout: FULL ? 900_000 : 300_000 },
  async () => {
    const system = await startTestSystem();
    // So the versions in the document's examples exist.
    for (const maxS of [1, 2, 3]) await system.putPolicy(fixed("fixed-h3", maxS));
    // Call through the TLS edge, as callers do. Each connection has its own address, so that no address sends too many wrong
    // tokens: the calls with wrong tokens use new connections.
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
    // On a busy machine ten seconds hold few sequences: this shows that there were some. The full run shows how many.
    expect(report.scenarios).toBeGreaterThan(FULL ? 300 : 10);
    // Links of the document that a second call followed with success.
    expect(followed.length).toBeGreaterThan(FULL ? 30 : 3);
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
