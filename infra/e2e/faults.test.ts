// Only here: bytes, bodies, breaks and forged metadata through edge, workerd and origin together.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import published from "../../policy-api/policies/published.json" with { type: "json" };
import type { Policy } from "../../policy-api/decision/policy.ts";
import { fixed, probe, type Protocol, startTestSystem, type TestSystem, until } from "./harness.ts";
import { changeOnDisk, rowsOnDisk } from "./objects.ts";

const PROTOCOLS = ["h1", "h2", "h3"] as const satisfies Protocol[];
const NAVIGATION = ["-header", "Accept: text/html"];

async function startOrigin(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; server: ReturnType<typeof createServer> }> {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const url = (system: TestSystem, path = "/"): string => `https://localhost:${system.port}${path}`;

it("every byte and header of the origin arrives, over each protocol, together with the offer", async () => {
  const plain = Buffer.from("<p>page</p>".repeat(5000));
  const packed = gzipSync(plain);
  const { url: origin } = await startOrigin((request, response) => {
    response.setHeader("x-own", "1");
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    if (request.url === "/packed") response.setHeader("content-encoding", "gzip");
    response.end(request.url === "/packed" ? packed : plain);
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(fixed("fixed-h3"));
  for (const protocol of PROTOCOLS) {
    for (const [path, body] of [
      ["/plain", plain],
      ["/packed", packed],
    ] as const) {
      const flags = [...NAVIGATION, "-header", "Accept-Encoding: gzip"];
      const [load] = await probe(system, protocol, [url(system, path)], flags);
      expect(load).toMatchObject({ status: 200, bytes: body.length });
      expect(load?.sha256, `${protocol} ${path}`).toBe(createHash("sha256").update(body).digest("hex"));
      expect(load?.headers["X-Own"]).toEqual(["1"]);
      expect(load?.headers["Set-Cookie"]).toEqual(["a=1", "b=2"]);
      expect(load?.headers["Alt-Svc"]).toEqual([`h3=":${system.port}"; ma=60`]);
      // Nothing that the origin did not send, but what the way itself adds.
      const own = [
        "Alt-Svc",
        "Connection",
        "Content-Encoding",
        "Content-Length",
        "Date",
        "Keep-Alive",
        "Set-Cookie",
        "Transfer-Encoding",
        "X-Own",
      ];
      expect(own).toEqual(expect.arrayContaining(Object.keys(load?.headers ?? {})));
    }
  }
});

it("metadata that a visitor forges is removed", async () => {
  let seen: IncomingMessage["headers"] = {};
  const { url: origin } = await startOrigin((request, response) => {
    seen = request.headers;
    response.end("page");
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(published as unknown as Policy);
  const forged = JSON.stringify({
    httpProtocol: "HTTP/2",
    clientTcpRtt: 500,
    colo: "XXX",
    adaptiveH3: { connectionId: "f" },
  });
  for (const blob of [forged, "{", "null"]) {
    for (const protocol of PROTOCOLS) {
      const flags = [...NAVIGATION, "-header", `MF-CF-Blob: ${blob}`, "-header", "CF-Connecting-IP: 203.0.113.9"];
      const before = system.decisions.length;
      const [load] = await probe(system, protocol, [url(system)], flags);
      expect(load?.status).toBe(200);
      expect(seen["cf-connecting-ip"]).toBe("127.0.0.1");
      expect(seen["x-forwarded-proto"]).toBe("https");
      expect(seen["x-forwarded-host"]).toBe(`localhost:${system.port}`);
      expect(seen["mf-cf-blob"]).toBeUndefined();
      const line = await until("decision", () => system.decisions[before]);
      expect(line.request.rttMs).toBeLessThan(100);
      expect(new Set(system.decisions.map((decision) => decision.client)).size).toBe(1);
    }
  }
});

it("an origin that refuses is a 502; one that stalls, a 504", async () => {
  const { url: origin, server } = await startOrigin(() => undefined);
  const system = await startTestSystem({ origin, edgeFlags: ["-config", "upstream-timeout=300ms"] });
  await system.putPolicy(fixed("fixed-h3"));
  for (const protocol of PROTOCOLS) {
    const [load] = await probe(system, protocol, [url(system)], NAVIGATION);
    expect(load?.status, protocol).toBe(504);
  }
  server.close();
  server.closeAllConnections();
  await once(server, "close");
  for (const protocol of PROTOCOLS) {
    const [load] = await probe(system, protocol, [url(system)], NAVIGATION);
    expect(load?.status, protocol).toBe(502);
  }
});

it("an origin that dies in mid-body is a broken load, never a short success", async () => {
  const { url: origin } = await startOrigin((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.write("x".repeat(100_000), () => response.destroy());
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(fixed("fixed-h3"));
  for (const protocol of PROTOCOLS) {
    const [load] = await probe(system, protocol, [url(system)], NAVIGATION);
    // A reset of a stream may overtake the head: what the client has not read yet may be discarded (RFC 9000, section 3.2).
    expect(protocol === "h3" ? [0, 200] : [200], protocol).toContain(load?.status);
    expect(load?.error, protocol).toBeTruthy();
  }
});

it("if a client goes away in mid-body, the origin sees it", async () => {
  let gone = 0;
  const { url: origin } = await startOrigin((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    const chunk = Buffer.alloc(65_536);
    const more = (): void => {
      while (response.write(chunk));
    };
    response.on("drain", more);
    response.on("close", () => gone++);
    more();
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(fixed("fixed-h3"));
  for (const [i, protocol] of PROTOCOLS.entries()) {
    await probe(system, protocol, [url(system)], [...NAVIGATION, "-leave-after", "200000"]);
    const closed = await until(`${protocol}: the origin's connection closed`, () => (gone > i ? gone : undefined));
    expect(closed).toBe(i + 1);
  }
});

it("a websocket passes, both ways", async () => {
  const { url: origin, server } = await startOrigin((_, response) => response.writeHead(400).end());
  server.on("upgrade", (request, socket: Socket) => {
    // RFC 6455, section 4.2.2. Nothing in between looks at the data after it, so the data need not be frames.
    const accept = createHash("sha1")
      .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.on("data", (data) => {
      // A client's text frame of up to 125 bytes (section 5.2): unmask it, and send it back as a server's.
      const length = (data[1] ?? 0) & 0x7f;
      const mask = data.subarray(2, 6);
      const body = data.subarray(6, 6 + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
      socket.write(Buffer.concat([Buffer.from([0x81, length]), body]));
    });
    onTestFinished(() => void socket.destroy());
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(fixed("fixed-h3"));
  const ca = readFileSync(join(system.stateDir, "dev-cert.pem"));
  const tls = connectTls({
    host: "127.0.0.1",
    port: system.port,
    servername: "localhost",
    ca,
    ALPNProtocols: ["http/1.1"],
  });
  onTestFinished(() => void tls.destroy());
  await once(tls, "secureConnect");
  tls.write(
    `GET /socket HTTP/1.1\r\nHost: localhost:${system.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
  );
  const [head] = (await once(tls, "data")) as [Buffer];
  expect(head.toString("latin1")).toMatch(/^HTTP\/1.1 101 /);
  // Section 5.7's masked "Hello".
  tls.write(Buffer.from([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]));
  const [echo] = (await once(tls, "data")) as [Buffer];
  expect(echo).toEqual(Buffer.concat([Buffer.from([0x81, 5]), Buffer.from("Hello")]));
  expect(system.decisions).toEqual([]);
});

it("a request's body arrives whole, over each protocol", async () => {
  const { url: origin } = await startOrigin((request, response) => {
    const hash = createHash("sha256");
    request.on("data", (chunk: Buffer) => hash.update(chunk));
    request.on("end", () => response.end(hash.digest("hex")));
  });
  const system = await startTestSystem({ origin });
  const expected = createHash("sha256").update(Buffer.alloc(2_000_000, "b")).digest("hex");
  for (const protocol of PROTOCOLS) {
    const [load] = await probe(system, protocol, [url(system)], ["-post-bytes", "2000000"]);
    expect(load?.sha256, protocol).toBe(createHash("sha256").update(expected).digest("hex"));
  }
});

const EARLY_ANSWER = "too much".repeat(10_000);
/** Origins that answer an upload as soon as they have its head. They read the rest, so that no reset overtakes the answer. */
const EARLY_ORIGINS = {
  /** As nginx does. */
  "closes the connection": () =>
    createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        const head = `HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: ${EARLY_ANSWER.length}`;
        socket.end(`${head}\r\n\r\n${EARLY_ANSWER}`);
        socket.resume();
      });
    }),
  "keeps the connection": () => createServer((_, response) => response.writeHead(413).end(EARLY_ANSWER)),
};

it.each(Object.entries(EARLY_ORIGINS))(
  "an upload is answered, over each protocol, by an origin that answers before it has read it, and %s",
  async (_, makeServer) => {
    const server = makeServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const system = await startTestSystem({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const expected = createHash("sha256").update(EARLY_ANSWER).digest("hex");
    for (const protocol of PROTOCOLS)
      for (let i = 0; i < 20; i++) {
        const [load] = await probe(system, protocol, [url(system)], ["-post-bytes", "4000000"]);
        expect(load, `${protocol}, upload ${i}`).toMatchObject({ status: 413, sha256: expected });
        expect(load?.error, `${protocol}, upload ${i}`).toBeUndefined();
      }
  },
);

it("a client whose rows on disk cannot be read counts as unknown", async () => {
  const system = await startTestSystem();
  await system.putPolicy(published as unknown as Policy);
  await probe(system, "h3", [url(system, "/image/1000000")]);
  await until("row", () => rowsOnDisk(system.stateDir).clients[0]);
  await system.workerd.crash(() =>
    changeOnDisk(system.stateDir, `UPDATE paths SET state = '{"connections":"many","held":"much"}'`),
  );
  const [load] = await probe(system, "h2", [url(system)], NAVIGATION);
  expect(load?.status).toBe(200);
  // Of the connection that loaded a clean megabyte nothing is left: the mix offers HTTP/3, as it does to anybody.
  const { history, decision } = await until("decision", () => system.decisions.at(-1));
  expect(history.state).toBe("unknown");
  expect(decision).toMatchObject({ reason: "h3-faster", quicAlone: 0 });
});
