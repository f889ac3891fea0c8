import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientOf } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { Failure } from "./failure.ts";
import { selfSigned } from "./testing-certificate.ts";
import { type Canned, startApi, TOKENS } from "./testing.ts";

type Call = (to: Endpoint) => Promise<unknown>;
const read = (to: Endpoint) => clientOf(to).activation.$get({ header: {} });
const change: Call = (to) => clientOf(to).activation.$put({ json: { everyone: 1 }, header: { "if-match": "*" } });

function endpoint(origin: string, over: Partial<Endpoint> = {}): Endpoint {
  return { origin, token: TOKENS.read, ca: undefined, caFile: undefined, timeoutMs: 10_000, ...over };
}

async function failure(to: Endpoint, call: Call = read): Promise<Failure> {
  try {
    await call(to);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("was answered");
}

/** Problem details as the API sends them. */
function problem(status: number, more: object = {}): Canned {
  return { status, body: { type: "about:blank", status, detail: "why", ...more } };
}

/** A socket that does something else than answer. Returns its port. */
async function socket(onConnection: (connection: Socket) => void): Promise<number> {
  const held: Socket[] = [];
  const server = createServer((connection) => {
    held.push(connection.on("error", () => undefined));
    onConnection(connection);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const connection of held) connection.destroy();
    server.close();
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}

describe("an answer", () => {
  it("comes with its tag, and was asked for as the contract says", async () => {
    const api = await startApi();
    const reply = await read(endpoint(api.url));
    expect([reply.status, reply.headers.get("etag")]).toEqual([200, '"r0"']);
    expect(await reply.json()).toMatchObject({ everyone: 0 });
    expect(api.requests[0]).toMatchObject({
      path: "/_h3/v1/activation",
      headers: { authorization: `Bearer ${TOKENS.read}`, connection: "close" },
    });
  });

  it.each([
    [400, 1],
    [401, 3],
    [403, 3],
    [404, 1],
    [409, 1],
    [412, 4],
    [413, 1],
    [422, 1],
    [428, 1],
    [429, 3],
    [500, 5],
    [503, 5],
  ])("%i ends with %i", async (status, exitCode) => {
    const api = await startApi();
    api.instead = () => problem(status, { faults: [{ pointer: "/a", message: "b" }] });
    const failed = await failure(endpoint(api.url));
    expect(failed).toMatchObject({
      exitCode,
      details: { status, detail: "why", faults: [{ pointer: "/a", message: "b" }] },
    });
    expect(failed.message).toContain(`(${status})`);
  });

  it.each([
    [{ status: 200, body: "<html>" }, "answers 200, and not as this version of the API does"],
    [
      { status: 200, body: { other: 1 } },
      "answers 200, and not as this version of the API does: is it the right server",
    ],
    [{ status: 404, body: "<html>" }, "answers 404, and not as this version of the API does: is it the right server?"],
    [{ status: 502, body: "<html>" }, "cannot answer now (502)."],
    [{ status: 308, headers: { location: "https://b.example/" } }, "sends on to https://b.example/ (308)"],
  ])("%j is not the API's", async (canned, why) => {
    const api = await startApi();
    api.instead = () => canned;
    const failed = await failure(endpoint(api.url));
    expect(failed.exitCode).toBe(5);
    expect(failed.message).toContain(why);
  });

  it("says when to try again", async () => {
    const api = await startApi();
    api.instead = () => ({ ...problem(429), headers: { "retry-after": "30" } });
    expect((await failure(endpoint(api.url))).message).toContain("try again in 30 s");
  });

  it("never shows the token, nor writes on the terminal", async () => {
    const api = await startApi();
    api.instead = () => problem(400, { detail: `Bearer ${TOKENS.read} is \u001b[2J` });
    const { message, details } = await failure(endpoint(api.url));
    expect(message).toBe("The server refuses this (400).");
    expect(details.detail).toBe("Bearer [the token] is ?[2J");
  });
});

describe("without an answer", () => {
  it("a port that nobody listens on", async () => {
    const api = await startApi();
    await api.close();
    const failed = await failure(endpoint(api.url), change);
    expect(failed.exitCode).toBe(5);
    expect(failed.message).toBe(
      `${api.url} cannot be reached. Nothing answers there (connection refused): is it running?`,
    );
    expect(failed.details.detail).toBeUndefined();
  });

  it("a server that takes its time: a change is then an open question", async () => {
    const port = await socket(() => undefined);
    const slow = endpoint(`http://127.0.0.1:${port}`, { timeoutMs: 50 });
    expect((await failure(slow)).message).toContain("It does not answer within 0.05 s.");
    expect((await failure(slow)).details.detail).toBeUndefined();
    expect((await failure(slow, change)).details.detail).toContain("Whether it made the change is not known");
  });

  it("a body that does not end", async () => {
    const port = await socket((connection) => connection.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"));
    const failed = await failure(endpoint(`http://127.0.0.1:${port}`, { timeoutMs: 200 }), change);
    expect(failed.message).toContain("It does not answer within 0.2 s.");
  });

  it("a connection that is closed", async () => {
    const port = await socket((connection) => connection.once("data", () => connection.destroy()));
    const failed = await failure(endpoint(`http://127.0.0.1:${port}`), change);
    expect(failed.message).toContain("It closed the connection without an answer.");
    expect(failed.details.detail).toContain("is not known");
  });

  it("no token: nothing is asked", async () => {
    const api = await startApi();
    const failed = await failure(endpoint(api.url, { token: undefined }));
    expect(failed).toMatchObject({ exitCode: 3 });
    expect(api.requests).toEqual([]);
  });
});

describe("over TLS", () => {
  it("a certificate is trusted when its root was given, and only then", async () => {
    const made = selfSigned();
    const api = await startApi(made);
    expect((await read(endpoint(api.url, { ca: made.cert }))).status).toBe(200);
    const failed = await failure(endpoint(api.url), change);
    expect(failed).toMatchObject({ exitCode: 5, details: {} });
    expect(failed.message).toMatch(/Its certificate is not trusted: give the root certificate with --ca\.$/);
    expect(failed.details.detail).toBeUndefined();
    expect(api.requests).toHaveLength(1);
  });

  it("a certificate for another name is none", async () => {
    const made = selfSigned();
    const api = await startApi(made);
    const url = api.url.replace("localhost", "127.0.0.2");
    const failed = await failure(endpoint(url, { ca: made.cert }));
    expect(failed.exitCode).toBe(5);
    expect(api.requests).toHaveLength(0);
  });

  it("a server without TLS", async () => {
    const api = await startApi();
    const failed = await failure(endpoint(api.url.replace("http:", "https:")));
    expect(failed.message).toContain("It does not speak TLS there.");
  });
});
