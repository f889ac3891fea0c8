// Only here: reports that come over the wire change results, and these change what the autopilot puts in force.
import unknownStack from "../../policy-api/policies/unknown-stack.json" with { type: "json" };
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import type { AuditEntry } from "../../policy-api/api/contract/policies.ts";
import type { Results } from "../../policy-api/api/contract/results.ts";
import { ASSIGNMENT_MS } from "../../policy-api/decision/assignment.ts";
import { decide } from "../../policy-api/decision/decide.ts";
import { parsePolicy, type Policy } from "../../policy-api/decision/policy.ts";
import { buildClock } from "../faults/clock.ts";
import { callApi } from "../workerd/policy-client.ts";
import { probe, startTestSystem, testFolder, type TestSystem, TOKEN, until } from "./harness.ts";
import { startRelay } from "./relay.ts";
import { sendReport, tokenOf } from "./sent-report.ts";

const CLIENTS = 300;
const AT_A_TIME = 6;
/** Isolates tell the objects every ten seconds, and those write sums every ten seconds. */
const WRITTEN_MS = 45_000;

/** Every client draws its answer, so that few clients are enough. */
const policy = (over: Partial<Policy>): Policy => {
  const parsed = parsePolicy({
    ...unknownStack,
    exploration: { share: 1 },
    reports: { share: 1, inject: false },
    ...over,
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
};

/** Visits of two pages by so many clients, each from its own address. A page over HTTP/3 takes `factor` as long. */
async function visitors(system: TestSystem, from: number, factor: number): Promise<void> {
  let next = from;
  const visit = async (): Promise<void> => {
    for (let i = next++; i < from + CLIENTS; i = next++) {
      const { port } = await startRelay(system.port, `127.${2 + Math.floor(i / 250)}.${i % 250}.1`);
      let isOffered = false;
      for (const page of ["", "two"]) {
        const protocol = isOffered ? "h3" : "h2";
        const [load] = await probe(
          system,
          protocol,
          [`https://localhost:${port}/${page}`],
          ["-header", "Accept: text/html"],
        );
        const token = load && tokenOf(load);
        if (load === undefined || token === undefined) continue;
        isOffered = load.headers["Alt-Svc"]?.[0]?.startsWith("h3=") === true;
        const loadMs = Math.round(1_000 * (0.8 + 0.4 * ((i * 0.618) % 1)) * (protocol === "h3" ? factor : 1));
        expect(await sendReport(system, port, token, { protocol, ttfbMs: 200, loadMs, atMs: loadMs })).toBe(204);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, visit));
}

async function autopilot({ port, stateDir }: TestSystem): Promise<string> {
  const env = {
    ...process.env,
    H3_URL: `https://localhost:${port}`,
    H3_TOKEN: TOKEN,
    H3_CA: join(stateDir, "dev-cert.pem"),
  };
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "policy-api/cli/main.ts"), "autopilot"], {
    env,
  });
  return stdout;
}

async function get<T>(system: TestSystem, resource: string): Promise<T> {
  const { status, json } = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", resource);
  expect(status).toBe(200);
  return json as T;
}

interface Stages {
  readonly everyone: number;
  readonly stages: readonly { readonly version: number; readonly share: number }[];
}

/** Resolves when the pages of so many visits are in a version's results. */
async function reported(system: TestSystem, version: number, clients = CLIENTS): Promise<true> {
  return until(
    "the pages' reports in the results",
    async () => {
      const { offered, withheld } = (await get<Results>(system, `results?version=${version}`)).everyone;
      return offered.reported + withheld.reported >= 0.9 * 2 * clients || undefined;
    },
    WRITTEN_MS,
  );
}

/** Offers HTTP/3 to everyone who draws nothing. */
const OFFERING: Partial<Policy> = (() => {
  const gain = unknownStack.method.table.next.gain.map((losses) => losses.map((rtts) => rtts.map(() => 0.3)));
  const gains = { ...unknownStack.method.table.next, gain };
  const table = { ...unknownStack.method.table, next: gains, return: gains };
  return { method: { ...unknownStack.method, kind: "gains", table } };
})();

it("learns from an empty table, and tries what it learnt", { timeout: 300_000 }, async () => {
  const system = await startTestSystem();
  const empty = await system.putPolicy(policy({}));
  expect(await autopilot(system)).toMatch(/^Nothing to do: nothing is proposed\. /);
  await visitors(system, 0, 0.6);
  await reported(system, empty);
  expect(await autopilot(system)).toMatch(/^Done: it tries what version \d+'s visitors taught: it should save /);
  const tried = await get<Stages>(system, "activation");
  expect(tried).toMatchObject({ everyone: empty, stages: [{ version: empty + 1, share: 0.05 }] });

  const { entries } = await get<{ entries: AuditEntry[] }>(system, "audit?limit=10");
  expect(entries.map(({ action, note }) => [action, note?.split(":")[0]?.split(".")[0]])).toEqual([
    ["activation.put", `autopilot tries what version ${empty}'s visitors taught`],
    ["policy.create", `autopilot proposes what version ${empty}'s visitors taught`],
    ["activation.put", undefined],
    ["policy.create", undefined],
  ]);
});

it("notices that the server has changed, begins anew, and offers HTTP/3 no more", { timeout: 300_000 }, async () => {
  const clock = buildClock(testFolder());
  const system = await startTestSystem({ runner: clock.runner });
  const first = await system.putPolicy(policy(OFFERING));
  await visitors(system, 0, 0.6);
  await reported(system, first);
  expect(await autopilot(system)).toBe("Nothing to do: no other policy is known to save time.\n");

  // Two periods of assignment later, HTTP/3 is the slower one.
  clock.shift((2 * ASSIGNMENT_MS) / 1000);
  await visitors(system, CLIENTS, 1.6);
  await reported(system, first, 2 * CLIENTS);
  const { change } = await get<Results>(system, `results?version=${first}`);
  expect(change?.text).toMatch(
    /^Since \d{4}-\d\d-\d\d HTTP\/3's effect is another one: of visitors with RTTs of under 10 ms, /,
  );
  expect(await autopilot(system)).toContain(
    `Done: it begins version ${first} anew, as HTTP/3's effect is another one since ${change?.since.slice(0, 10)}.`,
  );
  const anew = first + 1;
  expect(await get<Stages>(system, "activation")).toMatchObject({ everyone: anew, stages: [] });

  await visitors(system, 2 * CLIENTS, 1.6);
  await reported(system, anew);
  expect(await autopilot(system)).toMatch(
    new RegExp(`^Done: it takes back version ${anew}\\. Where .* Everyone gets an empty gain table\\.`),
  );
  expect(await get<Stages>(system, "activation")).toMatchObject({ everyone: anew + 1, stages: [] });
  const emptied = parsePolicy((await get<{ policy: unknown }>(system, `policies/${anew + 1}`)).policy);
  if (!emptied.ok) throw new Error(JSON.stringify(emptied.faults));
  const request = { transport: "tcp", rttMs: 2, path: "/" } as const;
  expect(decide(request, { state: "unknown" }, emptied.value, 0, undefined).advertise.kind).toBe("nothing");
});
