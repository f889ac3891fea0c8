// Only here: what isolates and the API do while a real store answers with errors.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { POLICY_CACHE_MS, POLICY_OUTDATED_MS } from "../../policy-api/decision/policy.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { activatePolicy, callApi } from "../workerd/policy-client.ts";
import { startWorkerd } from "../workerd/workerd.ts";
import { fixed, testFolder, TOKEN, until } from "./harness.ts";
import { writeManyIsolates } from "./many-isolates.ts";
import { loadPage } from "./page.ts";

/** Renames the table of activations while the object has it open. From then on each answer of the object is an error. */
function rename(stateDir: string, from: string, to: string): void {
  const folder = join(stateDir, "objects/adaptive-h3-PolicyStore");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite")) {
    const database = new DatabaseSync(join(folder, file), { timeout: 5_000 });
    database.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
    database.close();
  }
}

it(
  "without the store, isolates keep their policy for a while, new isolates send no Alt-Svc, and the API says that the store is gone",
  { timeout: 120_000 },
  async () => {
    const stateDir = testFolder();
    const sockets = ["warm", "new"].map((name) => join(stateDir, name));
    const [warm = "", fresh = ""] = sockets;
    const origin = await startDemoOrigin();
    onTestFinished(origin.stop);
    const workerd = await startWorkerd({
      stateDir,
      origin: origin.url,
      token: TOKEN,
      variables: { BUDGET_MS: "200" },
      config: writeManyIsolates(stateDir, sockets),
      onErrorLine: () => undefined,
    });
    onTestFinished(() => workerd.stop());
    const api = workerd.visitorsSocket;
    await activatePolicy(api, TOKEN, fixed("fixed-h3"));
    await until("an offer", async () => (await loadPage(warm)).altSvc?.includes("h3=") || undefined);
    const knownMs = performance.now();

    rename(stateDir, "activations", "activations_away");
    const health = await callApi(api, "", "GET", "health");
    expect([health.status, health.json]).toMatchObject([
      503,
      { status: "degraded", policy: "unreachable", store: "unreachable", revision: null },
    ]);
    for (const [method, resource, body] of [
      ["GET", "activation", undefined],
      ["PUT", "activation", { everyone: 0 }],
    ] as const) {
      const refused = await callApi(api, TOKEN, method, resource, body, { "if-match": "*" });
      expect([refused.status, refused.headers["content-type"]]).toEqual([503, "application/problem+json"]);
      // The answer does not show the internal error.
      expect(JSON.stringify(refused.json)).not.toMatch(/sql|table|activations_away/i);
    }
    // A probe says how long what is there takes, and that the rest does not answer.
    const probed = await callApi(api, TOKEN, "GET", "probe?answer=nothing");
    expect([probed.status, probed.json]).toMatchObject([
      200,
      { policyMs: null, lookUpMs: expect.any(Number) as number },
    ]);
    // Past the age at which the isolate asks for a newer policy and gets none.
    while (performance.now() < knownMs + POLICY_CACHE_MS + 3_000) {
      const page = await loadPage(warm);
      // On a machine that stood still the policy may be outdated by then.
      if (performance.now() - knownMs < POLICY_OUTDATED_MS - 1_000)
        expect(page).toEqual({ status: 200, altSvc: 'h3=":443"; ma=60' });
      expect(await loadPage(fresh)).toMatchObject({ status: 200, altSvc: undefined });
      await sleep(250);
    }

    rename(stateDir, "activations_away", "activations");
    await until("a new isolate obeys", async () =>
      (await loadPage(fresh)).altSvc?.includes("h3=") === true ? true : undefined,
    );
    const killed = await callApi(
      api,
      TOKEN,
      "PUT",
      "activation/kill-switch",
      { kind: "clear" },
      { "if-match": '"r1"' },
    );
    expect([killed.status, (await loadPage(api)).altSvc]).toEqual([200, "clear"]);
  },
);
