// Only here: real processes are killed and stopped while visitors come.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { fixed, probe, type Protocol, startTestSystem, type TestSystem, until } from "./harness.ts";

const PROTOCOLS = ["h1", "h2", "h3"] as const satisfies Protocol[];
const PAGE = "<p>page</p>".repeat(500);

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  /** Without headers that differ with each request. */
  readonly headers: readonly string[];
}

/** Starts an origin that records each request. */
async function startOrigin(): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((incoming, response) => {
    const headers = incoming.rawHeaders.flatMap((name, i, all) =>
      i % 2 === 0 ? [`${name.toLowerCase()}: ${all[i + 1]}`] : [],
    );
    asked.push({ method: incoming.method, url: incoming.url, headers: headers.toSorted() });
    incoming.resume();
    incoming.once("end", () =>
      response.writeHead(200, { "content-type": "text/html", "alt-svc": 'h3=":1"', "x-own": "1" }).end(PAGE),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** Starts a supervised system, and records the messages of its supervision. */
async function startKept(): Promise<{ system: TestSystem; said: string[]; asked: Asked[] }> {
  const said: string[] = [];
  const { url, asked } = await startOrigin();
  const system = await startTestSystem({ origin: url, onRestart: (sentence) => said.push(sentence) });
  await system.putPolicy(fixed("fixed-h3"));
  return { system, said, asked };
}

const site = (system: TestSystem, path = "/"): string => `https://localhost:${system.port}${path}`;

/** Loads pages over HTTP/2 one after another until it is ended. `wrong` has each answer that was not the page. */
function visitAllTheTime(system: TestSystem): { end(): Promise<{ pages: number; wrong: string[] }> } {
  const ca = readFileSync(join(system.stateDir, "dev-cert.pem"));
  const ended = new AbortController();
  const session = connectHttp2(`https://localhost:${system.port}`, { ca });
  session.on("error", () => undefined);
  const visiting = (async () => {
    const wrong: string[] = [];
    let pages = 0;
    while (!ended.signal.aborted) {
      const stream = session.request({ ":path": `/${pages}`, accept: "text/html" });
      try {
        const [headers] = (await once(stream, "response")) as [Record<string, number>];
        const body = await text(stream);
        if (headers[":status"] !== 200 || body !== PAGE) wrong.push(`${headers[":status"]}: ${body.slice(0, 100)}`);
      } catch (error) {
        wrong.push((error as Error).message);
      }
      pages++;
      await pause(5);
    }
    session.destroy();
    return { pages, wrong };
  })();
  return {
    end: () => {
      ended.abort();
      return visiting;
    },
  };
}

async function health(system: TestSystem): Promise<{ status: number; json: { ok: boolean; problems: string[] } }> {
  const call = request({ socketPath: system.healthSocket, path: "/health", headers: { host: "localhost" } });
  call.end();
  const [response] = (await once(call, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, json: JSON.parse(await text(response)) as never };
}

/** Whether the worker decides: the active policy offers HTTP/3 to all. */
async function isDecided(system: TestSystem, protocol: Protocol = "h2"): Promise<boolean> {
  const [load] = await probe(system, protocol, [site(system)], ["-header", "Accept: text/html"]);
  expect(load, protocol).toMatchObject({ status: 200, bytes: PAGE.length });
  return load?.headers["Alt-Svc"] !== undefined;
}

it("kill -9 of workerd, three times: every page comes, and workerd starts again", async () => {
  const { system, said } = await startKept();
  const visits = visitAllTheTime(system);
  for (let i = 1; i <= 3; i++) {
    const pid = system.workerd.pid();
    process.kill(pid, "SIGKILL");
    await until("another workerd", () => (system.workerd.pid() === pid ? undefined : true));
    await until("a decision", async () => ((await isDecided(system)) ? true : undefined));
    expect(said.filter((sentence) => sentence.startsWith("workerd ended by itself (signal SIGKILL)"))).toHaveLength(i);
  }
  const { pages, wrong } = await visits.end();
  expect(wrong).toEqual([]);
  expect(pages).toBeGreaterThan(20);
});

it("if workerd stands still, the edge asks the origin for pages as the worker would", async () => {
  const { system, asked } = await startKept();
  const page = ["-header", "Accept: text/html", "-header", "Cookie: a=1"];
  for (const protocol of PROTOCOLS) await probe(system, protocol, [site(system, "/a%20b?c=%2F")], page);
  const byWorker = asked.splice(0).filter(({ url }) => url === "/a%20b?c=%2F");
  expect((await health(system)).json).toMatchObject({ ok: true, problems: [] });

  process.kill(system.workerd.pid(), "SIGSTOP");
  // The first request waits until there has been no heartbeat for a second.
  for (const protocol of PROTOCOLS) {
    const [load] = await probe(system, protocol, [site(system, "/a%20b?c=%2F")], page);
    expect(load).toMatchObject({ status: 200, bytes: PAGE.length });
    expect(load?.headers["X-Own"]).toEqual(["1"]);
    expect(load?.headers["Alt-Svc"]).toBeUndefined();
    const [post] = await probe(system, protocol, [site(system, "/form")], ["-post-bytes", "100000"]);
    expect(post, "a POST while it is known").toMatchObject({ status: 200 });
    const [api] = await probe(system, protocol, [site(system, "/_h3/v1/health")]);
    expect(api, "what is the worker's own").toMatchObject({ status: 503 });
  }
  const byEdge = asked.filter(({ url }) => url === "/a%20b?c=%2F");
  expect(byEdge).toEqual(byWorker);
  expect(asked.every(({ url }) => url?.startsWith("/_h3") === false)).toBe(true);
  // What it found it keeps for a second.
  const sick = await until("a health that is not", async () => {
    const found = await health(system);
    return found.status === 503 ? found : undefined;
  });
  expect(sick.json.problems).toEqual(["the worker does not answer: the origin is asked instead, and nobody decides"]);

  process.kill(system.workerd.pid(), "SIGCONT");
  await until("a decision", async () => ((await isDecided(system)) ? true : undefined));
  await until("a health that is well", async () => ((await health(system)).json.ok ? true : undefined));
});

it("kill -9 of the edge: it serves again at the same port, with the same certificate", async () => {
  const { system, said } = await startKept();
  expect(await isDecided(system)).toBe(true);
  process.kill(system.edgePid(), "SIGKILL");
  for (const protocol of PROTOCOLS)
    await until(`${protocol} again`, async () => {
      try {
        return (await isDecided(system, protocol)) ? true : undefined;
      } catch {
        return undefined;
      }
    });
  expect(said).toEqual(["The edge ended by itself (signal SIGKILL): it starts again."]);
});
