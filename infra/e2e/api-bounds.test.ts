// Only here: what edge and workerd together make of long bodies and of odd hosts, over every protocol.
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:tls";
import { expect, it } from "vitest";
import { probe, startTestSystem, TOKEN } from "./harness.ts";

const BODY_MAX_BYTES = 262_144;
const PROTOCOLS = ["h1", "h2", "h3"] as const;

it("a body above the bound of the API gets a whole 413 over every protocol", async () => {
  const system = await startTestSystem();
  const url = `https://localhost:${system.port}/_h3/v1/decisions`;
  for (const protocol of PROTOCOLS)
    for (const bytes of [BODY_MAX_BYTES, BODY_MAX_BYTES + 1, 1_000_000, 30_000_000])
      for (const token of [TOKEN, ""]) {
        const flags = ["-post-bytes", String(bytes), "-header", `Authorization: Bearer ${token}`];
        const [load] = await probe(system, protocol, [url], flags);
        // What the probe sends is not JSON.
        const status = bytes > BODY_MAX_BYTES ? 413 : token === TOKEN ? 400 : 401;
        const seen = [protocol, bytes, load?.status, load?.error, load?.headers["Content-Type"]];
        expect(seen).toEqual([protocol, bytes, status, undefined, ["application/problem+json"]]);
      }
});

/** Hosts, and what the edge and the worker by itself answer: 400 to one that no URL can have. The worker asks no certificate. */
const HOSTS: readonly [hosts: readonly string[], edge: number, worker: number][] = [
  [["localhost:99999", "localhost:x", "a:b:c", "[::1", "[::g]", "["], 400, 400],
  [["1.2.3.4.5", "256.1.1.1", "a..%", "%zz"], 421, 400],
  [["a_b", "xn--a"], 421, 200],
  [[""], 400, 200],
  [["localhost:1"], 200, 200],
];

it("a host that no URL can have, or that is not here, is refused without a line in the log, for a page and for the API", async () => {
  const lines: string[] = [];
  const system = await startTestSystem({ onErrorLine: (line) => void lines.push(line) });
  const throughEdge = async (host: string, path: string): Promise<number> => {
    const connection = connect({ port: system.port, rejectUnauthorized: false });
    connection.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
    let said = "";
    for await (const chunk of connection.setEncoding("utf8")) said += chunk;
    return Number(said.split(" ")[1]);
  };
  const pastEdge = async (host: string, path: string): Promise<number> => {
    const call = request({ socketPath: system.workerd.visitorsSocket, path, headers: { host, accept: "text/html" } });
    call.end();
    const [response] = (await once(call, "response")) as [{ statusCode: number; resume(): void }];
    response.resume();
    return response.statusCode;
  };
  const statuses: Record<string, number> = {};
  const expected: Record<string, number> = {};
  for (const path of ["/", "/_h3/v1/health"])
    for (const [hosts, edge, worker] of HOSTS)
      for (const host of hosts) {
        statuses[`${host} ${path}`] = await throughEdge(host, path);
        statuses[`${host} ${path}, past the edge`] = await pastEdge(host, path);
        expected[`${host} ${path}`] = edge;
        expected[`${host} ${path}, past the edge`] = worker;
      }
  expect(statuses).toEqual(expected);
  expect(lines).toEqual([]);
});
