// Only here: the demo's visitors, at a real worker.
import { expect, it } from "vitest";
import type { Policy } from "../../policy-api/decision/policy.ts";
import type { Stats } from "../../policy-api/api/contract/deployment.ts";
import { numbers } from "../../policy-api/visitors/testing.ts";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { DEMO_NETWORKS } from "../workerd/demo-networks.ts";
import { sendDemoVisitors } from "../workerd/demo-visitors.ts";
import { callApi } from "../workerd/policy-client.ts";
import { startTestSystem, TOKEN, until } from "./harness.ts";

it("visitors who are not there come from five networks, follow offers, and end when they are told to", async () => {
  const system = await startTestSystem();
  await system.putPolicy(cubic as unknown as Policy);
  const ended = new AbortController();
  const visiting = sendDemoVisitors(system.workerd, ended.signal, numbers(3));
  const stats = await until(
    "visitors of each network, some of them over HTTP/3 until that is taken back",
    async () => {
      const { json } = await callApi(system.workerd.visitorsSocket, TOKEN, "GET", "stats");
      const { totals } = json as Stats;
      const classes = new Set(
        totals.filter(({ counter }) => counter === "clients_seen").map(({ labels }) => labels["rtt_ms"]),
      );
      const overH3 = totals.some(({ counter, labels }) => counter === "decisions" && labels["transport"] === "quic");
      const read = totals.some(({ counter }) => counter === "samples");
      // One of the networks drops packets of UDP.
      const takenBack = totals.some(
        ({ counter, labels }) => counter === "decisions" && labels["reason"] === "quic-loses",
      );
      return classes.size >= DEMO_NETWORKS.length && overH3 && read && takenBack ? totals : undefined;
    },
    30_000,
  );
  expect(stats.filter(({ counter }) => counter === "undecided")).toEqual([]);
  ended.abort();
  await visiting;
});
