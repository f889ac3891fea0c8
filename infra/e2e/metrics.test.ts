// Only here: Prometheus' own tool reads what both programs say.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { fixed, probe, startTestSystem, until } from "./harness.ts";
import { metricsOf } from "./metrics-of.ts";
import { freePort } from "../workerd/listening.ts";

it("the worker's metrics are what Prometheus takes", async () => {
  const system = await startTestSystem();
  await system.putPolicy(fixed("fixed-h3"));
  await probe(system, "h2", [`https://localhost:${system.port}/`], ["-header", "Accept: text/html"]);
  const text = await metricsOf(system);
  expect(text).toContain('adaptive_h3_origin_total{answer="served"} 1');
  expect(faultsOf(text)).toBe("");
});

it("the edge's metrics are, too", async () => {
  const address = `http://127.0.0.1:${await freePort()}`;
  const system = await startTestSystem({ edgeFlags: ["-metrics", address] });
  await probe(system, "h3", [`https://localhost:${system.port}/`], ["-header", "Accept: text/html"]);
  // A client may have its response before the edge has counted it.
  const text = await until("a request in the metrics", async () => {
    const said = await (await fetch(`${address}/metrics`)).text();
    return said.includes('adaptive_h3_edge_requests_total{protocol="h3"} 1') ? said : undefined;
  });
  expect(faultsOf(text)).toBe("");
});

/** What Prometheus' own tool says is wrong: nothing otherwise. */
function faultsOf(text: string): string {
  return execFileSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
}
