// Only here: counts equal the log of a real workerd, and outlive its kill.
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { expect, it } from "vitest";
import type { Stats } from "../../policy-api/api/contract/deployment.ts";
import type { DecisionLine } from "../../policy-api/decision/decide.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { numbers } from "../../policy-api/visitors/testing.ts";
import { callApi } from "../workerd/policy-client.ts";
import { startTestSystem, type TestSystem, TOKEN, until } from "./harness.ts";
import { metricsOf } from "./metrics-of.ts";
import { cfOfH2, visitor } from "./visitor.ts";

const REQUESTS = 3_000;
const POLICY = {
  ...(cubic as unknown as Policy),
  rules: [
    { pathPrefix: "/h2/", mode: "fixed-h2" },
    { pathPrefix: "/h3/", mode: "fixed-h3" },
    { pathPrefix: "/see/", mode: "observe" },
  ],
  exploration: { share: 0.2 },
} as Policy;

async function statsOf(system: TestSystem): Promise<Stats> {
  const { status, json } = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", "stats");
  expect(status).toBe(200);
  return json as Stats;
}

/** A counter, by one label: how often each value stands in the log. */
function logged(lines: readonly DecisionLine[], of: (line: DecisionLine) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(lines, of)].map(([value, some]) => [value, some.length]));
}
function counted(stats: Stats, label: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { counter, labels, count } of stats.totals)
    if (counter === "decisions") counts[labels[label] ?? ""] = (counts[labels[label] ?? ""] ?? 0) + count;
  return counts;
}

it(`equals the log of decisions, after ${REQUESTS} mixed requests`, { timeout: 240_000 }, async () => {
  const system = await startTestSystem();
  await system.putPolicy(POLICY);
  const ask = visitor(system);
  const draw = numbers(7);
  const among = <T>(values: readonly T[]): T => values[Math.floor(draw() * values.length)] as T;
  let pages = 0;
  const one = async (): Promise<void> => {
    const isPage = draw() < 0.8;
    const rttMs = among([1, 8, 25, 60, 140, 300]);
    const cf =
      draw() < 0.7
        ? cfOfH2(rttMs, { packetsSent: among([3, 800]), packetsLost: among([0, 1, 20]) })
        : { httpProtocol: "HTTP/3", clientQuicRtt: rttMs, adaptiveH3: { connectionId: "q", transport: "quic" } };
    const client = `10.${among([0, 1, 2, 3])}.${Math.floor(draw() * 200)}.1`;
    if (isPage) pages++;
    await ask(among(["/", "/shop/", "/h2/a", "/h3/a", "/see/a"]), draw() < 0.02 ? {} : cf, client, isPage);
  };
  const lane = async (): Promise<void> => {
    for (let i = 0; i < REQUESTS / 20; i++) await one();
  };
  await Promise.all(Array.from({ length: 20 }, lane));
  await until("the log of every page", () => (system.decisions.length >= pages ? true : undefined), 60_000);
  const stats = await statsOf(system);
  expect(system.decisions).toHaveLength(pages);
  expect(counted(stats, "reason")).toEqual(logged(system.decisions, ({ decision }) => decision.reason));
  expect(counted(stats, "answer")).toEqual(logged(system.decisions, ({ decision }) => decision.advertise.kind));
  expect(counted(stats, "transport")).toEqual(logged(system.decisions, ({ request: { transport } }) => transport));
  expect(counted(stats, "late")["yes"] ?? 0).toBe(
    system.decisions.filter(({ history, decision }) => history.state === "late" && decision.mode === "adaptive").length,
  );
  // As often as the log, asked again: nothing counts twice.
  expect((await statsOf(system)).totals).toEqual(stats.totals);
  const text = await metricsOf(system);
  const sum = [...text.matchAll(/^adaptive_h3_decisions_total\{.*\} (\d+)$/gm)].reduce(
    (all, [, n]) => all + Number(n),
    0,
  );
  expect(sum).toBe(pages);
});

it("a kill loses no count that somebody has read, and nothing counts twice", async () => {
  const system = await startTestSystem();
  await system.putPolicy(POLICY);
  const ask = visitor(system);
  const visits = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await ask("/", cfOfH2(40), `10.1.${i}.1`);
  };
  const decided = async (): Promise<number> =>
    Object.values(counted(await statsOf(system), "answer")).reduce((sum, n) => sum + n, 0);
  await visits(50);
  // What was read is on disk. What comes then waits in the isolate, and in the object.
  expect(await decided()).toBe(50);
  await visits(20);
  await system.workerd.crash();
  await visits(10);
  const first = await decided();
  expect(first).toBeGreaterThanOrEqual(60);
  expect(first).toBeLessThanOrEqual(80);
  expect(await decided()).toBe(first);
});
