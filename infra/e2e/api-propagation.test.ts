// Only here: several isolates of one real workerd renew their policy by themselves, in real time.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { activatePolicy, callApi } from "../workerd/policy-client.ts";
import { startWorkerd } from "../workerd/workerd.ts";
import { fixed, testFolder, until } from "./harness.ts";
import { writeManyIsolates } from "./many-isolates.ts";
import { loadPage } from "./page.ts";

const TOKEN = "token-of-a-test";
/** The isolates beside the one that receives the change. */
const ISOLATES = 4;
/** The time between two visitors of an isolate. */
const VISIT_MS = 100;
/** What docs/operating.md promises. */
const OBEYED_MS = 30_000;

const altSvcOf = async (socketPath: string): Promise<string | undefined> => (await loadPage(socketPath)).altSvc;

it(
  "the isolate that receives a change obeys at once, and every other isolate within 30 s",
  { timeout: 120_000 },
  async () => {
    const stateDir = testFolder();
    const sockets = Array.from({ length: ISOLATES }, (_, i) => join(stateDir, `visitors-${i}`));
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
    await activatePolicy(workerd.visitorsSocket, TOKEN, fixed("fixed-h3"));
    // Each isolate starts at another time, so that their renewals are spread, as in real use.
    for (const socket of sockets) {
      await sleep(500);
      await until("an offer", async () => (await altSvcOf(socket))?.includes("h3=") || undefined);
    }

    const beganMs = performance.now();
    const { status } = await callApi(
      workerd.visitorsSocket,
      TOKEN,
      "PUT",
      "activation/kill-switch",
      { kind: "clear" },
      { "if-match": "*" },
    );
    expect(status).toBe(200);
    expect(await altSvcOf(workerd.visitorsSocket)).toBe("clear");
    const atOnceMs = performance.now() - beganMs;

    const obeyedMs = await Promise.all(
      sockets.map(async (socket) => {
        for (;;) {
          const askedMs = performance.now();
          if ((await altSvcOf(socket)) === "clear") return askedMs - beganMs;
          if (askedMs - beganMs > 2 * OBEYED_MS) throw new Error(`${socket} obeys the old policy still`);
          await sleep(VISIT_MS);
        }
      }),
    );
    console.log(
      `obeyed after ${atOnceMs.toFixed(0)} ms by the isolate that was told, by the others after ` +
        `${obeyedMs.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s`,
    );
    expect(Math.max(...obeyedMs)).toBeLessThanOrEqual(OBEYED_MS + 2 * VISIT_MS);
    // They are separate isolates: some obeyed later than the first.
    expect(Math.max(...obeyedMs)).toBeGreaterThan(1_000);
  },
);
