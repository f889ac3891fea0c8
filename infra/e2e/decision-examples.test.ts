// Only here: real proxies and functions run the examples of docs/decisions.md with their files unchanged.
import { once } from "node:events";
import { createServer, get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { tokenEntry } from "../../policy-api/api/tokens.ts";
import cubic from "../../policy-api/policies/cubic.json" with { type: "json" };
import { ROOT } from "../../base/root.ts";
import { callApi } from "../workerd/policy-client.ts";
import { freePort, untilListens } from "../workerd/listening.ts";
import { startProgram } from "../workerd/processes.ts";
import { edgeFunction, type Example, haproxy, nginx, nodeOrigin } from "./decision-examples.ts";
import { startTestSystem, type TestSystem, TOKEN, until } from "./harness.ts";

const READ_TOKEN = "token-that-may-read";
/** The offer with the default port 443. The site's port is not that of the API. */
const OFFER = 'h3=":443"; ma=60';

/** A proxy that measures the connection itself ignores the RTT in this header. */
const AS_BROWSER = { "sec-fetch-dest": "document", "x-client-rtt-us": "40000" };

/** The examples wait 100 ms for each step, and an API that does not answer must not stop them. This allows for a busy machine. */
const LATEST_MS = 5_000;

const EXAMPLES: readonly (readonly [string, Example])[] = [
  ["HAProxy", haproxy],
  ["nginx", nginx],
  ["an origin in Node", nodeOrigin],
  ["an edge function", edgeFunction],
];

it.each(EXAMPLES)("%s: advertises what the API decides, and without an answer nothing, in time", async (_, example) => {
  // Every RTT on the loopback is small, but above 0.
  const { api, start } = await startSite(byRtt(0));

  const alone = await start(example, await freePort());
  await expectNothing(alone.url);
  await alone.stop();

  api.state = "stalled";
  const { url } = await start(example);
  await expectNothing(url);

  api.state = "open";
  // nginx asks again every 5 s, and uses only what comes within 100 ms: on a busy machine not the first one does.
  const offered = await until(
    "an offer once the API is back",
    async () => {
      const page = await load(url);
      return page.headers["alt-svc"] === undefined ? undefined : page;
    },
    40_000,
  );
  expect(offered.headers["alt-svc"]).toBe(OFFER);
  expect(offered.body).toContain("page");
  expect((await load(url, { "sec-fetch-dest": "image" })).headers["alt-svc"]).toBeUndefined();

  // All visitors with about the same RTT share an answer.
  const before = api.connections;
  for (let i = 0; i < 30; i++) expect((await load(url)).body).toContain("page");
  expect(api.connections - before).toBeLessThan(15);
});

it.each([
  ["an origin in Node", nodeOrigin],
  ["an edge function", edgeFunction],
])("%s: goes by the RTT that the header tells", async (_, example) => {
  const { start } = await startSite(byRtt(20));
  const { url } = await start(example);
  const told = async (rttUs: string): Promise<string | undefined> =>
    (await load(url, { "x-client-rtt-us": rttUs })).headers["alt-svc"];
  await until("an offer", () => told("40000"));
  expect(await told("40000")).toBe(OFFER);
  expect(await told("41000")).toBe(OFFER);
  for (const rttUs of ["5000", "", "x", "-40000"]) expect(await told(rttUs), rttUs).toBeUndefined();
});

it.each([
  ["an origin in Node", nodeOrigin],
  ["an edge function", edgeFunction],
])("%s: an answer that is too late serves the next visitor", async (_, example) => {
  const { api, start } = await startSite(byRtt(20));
  api.state = "slow";
  const { url } = await start(example);
  expect((await load(url)).headers["alt-svc"]).toBeUndefined();
  const next = await until("the late answer", async () => (await load(url)).headers["alt-svc"]);
  expect(next).toBe(OFFER);
  expect(api.connections).toBe(1);
});

it("all obey another policy when their cached answers have expired", async () => {
  const { system, start } = await startSite(byRtt(0));
  const urls = await Promise.all(EXAMPLES.map(async ([, example]) => (await start(example)).url));
  const altSvcs = async (): Promise<(string | undefined)[]> =>
    Promise.all(urls.map(async (url) => (await load(url)).headers["alt-svc"]));
  await until("offers", async () => ((await altSvcs()).every((value) => value === OFFER) ? true : undefined));
  await system.putPolicy(INITIAL_POLICY);
  // There were offers of HTTP/3, but observe takes no offer back: the API answers null.
  const last = await until(
    "answers without an offer",
    async () => {
      const values = await altSvcs();
      return values.includes(OFFER) ? undefined : values;
    },
    30_000,
  );
  expect(last).toEqual(EXAMPLES.map(() => undefined));
});

it("the API answers the document's first example as the document says", async () => {
  const document = readFileSync(join(ROOT, "docs/decisions.md"), "utf8");
  const [, asked = ""] = /-d '(\{"paths"[^']*)'/.exec(document) ?? [];
  const [, said = ""] = /\n( {4}\{"revision"(?:.*\n)*?)\n/.exec(document) ?? [];
  const system = await startTestSystem();
  await system.putPolicy(cubic as unknown as Policy);
  const { json } = await callApi(system.workerd.visitorsSocket, TOKEN, "POST", "decisions", JSON.parse(asked));
  const rounded: unknown = JSON.parse(JSON.stringify(json), (_, value: unknown) =>
    typeof value === "number" ? Number(value.toFixed(3)) : value,
  );
  expect(rounded).toMatchObject(JSON.parse(said) as object);
});

async function expectNothing(url: string): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const beganMs = performance.now();
    const page = await load(url);
    expect(performance.now() - beganMs).toBeLessThan(LATEST_MS);
    expect(page.body).toContain("page");
    expect(page.headers["alt-svc"]).toBeUndefined();
  }
}

interface Site {
  readonly system: TestSystem;
  readonly api: Gate;
  readonly start: (example: Example, apiPort?: number) => Promise<{ url: string; stop: () => Promise<void> }>;
}

async function startSite(policy: Policy): Promise<Site> {
  const tokens = [await tokenEntry("local", "write", TOKEN), await tokenEntry("example", "read", READ_TOKEN)];
  const system = await startTestSystem({ variables: { POLICY_TOKENS: tokens.join(" ") } });
  await system.putPolicy(policy);
  const api = await startGate(system.port);
  const origin = await startOrigin();
  const ca = join(system.stateDir, "dev-cert.pem");
  return {
    system,
    api,
    start: async (example, apiPort = api.port) => {
      const listen = `127.0.0.1:${await freePort()}`;
      const { file, args, env } = example({ listen, origin, apiPort, token: READ_TOKEN, ca });
      const said: string[] = [];
      const onLine = (line: string): void => void said.push(line);
      const program = startProgram(file, { args, ...(env && { env }), onLine, onErrorLine: onLine, graceMs: 1_000 });
      onTestFinished(() => program.stop());
      const ended = program.ended.then((why) => {
        throw new Error(`it did not start (${why}):\n${said.join("\n")}`);
      });
      await Promise.race([untilListens("the example", listen), ended]);
      return {
        url: `http://${listen}/`,
        stop: async () => {
          ended.catch(() => undefined);
          await program.stop();
        },
      };
    },
  };
}

/** Later than a visitor waits in any example, and sooner than they ask again. */
const SLOW_MS = 1_000;

/** A gate between an example and the API. While stalled, it accepts connections and sends nothing; while slow, nothing before {@link SLOW_MS}. */
interface Gate {
  readonly port: number;
  state: "open" | "slow" | "stalled";
  connections: number;
}

async function startGate(apiPort: number): Promise<Gate> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };
  const server = createTcpServer((client) => {
    gate.connections++;
    kept(client);
    if (gate.state === "stalled") return;
    if (gate.state === "slow") {
      setTimeout(passOn, SLOW_MS, client);
      return;
    }
    passOn(client);
  }).listen(0, "127.0.0.1");
  const passOn = (client: Socket): void => {
    const there = kept(connect(apiPort, "127.0.0.1"));
    client.pipe(there).pipe(client);
    client.once("close", () => there.destroy());
    there.once("close", () => client.destroy());
  };
  await once(server, "listening");
  const gate: Gate = { port: (server.address() as AddressInfo).port, state: "open", connections: 0 };
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return gate;
}

/** An origin with its own Alt-Svc, which must not reach visitors. */
async function startOrigin(): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader("alt-svc", 'h3=":1"');
    response.end("a page");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Loads a page over a new connection, as a browser does. */
async function load(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ headers: IncomingHttpHeaders; body: string }> {
  const request = get(url, { agent: false, headers: { ...AS_BROWSER, ...headers } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { headers: response.headers, body: await text(response) };
}

function byRtt(rttMs: number): Policy {
  return { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs }, ma: { minS: 60, maxS: 300 } };
}
