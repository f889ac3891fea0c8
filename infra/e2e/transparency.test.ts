import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import fieldLines from "../edge/testdata/field-lines.json" with { type: "json" };
import { fixed, startTestSystem } from "./harness.ts";
import { exchange, startRawOrigin } from "./raw-http.ts";
import { transparencyExceptions, transparencySection, transparencyTable } from "./transparency-page.ts";

// Only here: docs/transparency.md, row by row, with bytes that no HTTP library changes on either side.

const code = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");

const EMPTY_ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

it("a key for every header that changes", () => {
  expect([...transparencyExceptions("requests").keys()]).toContain("host");
  expect([...transparencyExceptions("responses").keys()]).toContain("alt-svc");
  const [list = ""] = transparencySection("Repeated and empty fields").split(". ");
  expect(code(list)).toEqual(fieldLines.joined);
});

it("paths and queries", async () => {
  const { url, heads } = await startRawOrigin(EMPTY_ANSWER);
  const system = await startTestSystem({ origin: url });
  const rows = transparencyTable("Paths and queries");
  expect(rows.length).toBeGreaterThan(10);
  for (const [sent, asked = ""] of rows) {
    heads.length = 0;
    const answer = await exchange(system, `GET ${code(sent)[0]}`);
    const refused = /answered with (\d+)/.exec(asked)?.[1];
    expect(answer, sent).toContain(`HTTP/1.1 ${refused ?? "200"} `);
    expect(
      heads.map((head) => head.split("\r\n")[0]),
      sent,
    ).toEqual(refused === undefined ? [`GET ${code(asked)[0]} HTTP/1.1`] : []);
  }
});

it("methods", async () => {
  const { url, heads } = await startRawOrigin(EMPTY_ANSWER);
  const system = await startTestSystem({ origin: url });
  for (const [methods, result = ""] of transparencyTable("Methods"))
    for (const method of code(methods)) {
      heads.length = 0;
      const answer = await exchange(system, `${method} ${method === "CONNECT" ? "a.example:443" : "/"}`);
      const refused = /answered with (\d+)/.exec(result)?.[1];
      expect(answer, method).toContain(`HTTP/1.1 ${refused ?? "200"} `);
      expect(heads.map((head) => head.split(" ")[0])).toEqual(refused === undefined ? [method] : []);
    }
});

it("headers, interim responses and trailers", async () => {
  const { url, heads } = await startRawOrigin(
    [
      "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
      'HTTP/1.1 200 Fine\r\nX-Odd: a\xfcb\r\nX-Two: 1\r\nX-Two: 2\r\nServer: own\r\nAlt-Svc: h2=":1"\r\n',
      "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n",
      "2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n",
    ].join(""),
  );
  const system = await startTestSystem({ origin: url });
  const answer = await exchange(
    system,
    "GET /",
    "X-Own: a\xfcb\r\nX-Two: 1\r\nX-Two: 2\r\nX-Forwarded-For: 1.2.3.4\r\nKeep-Alive: 1\r\nAccept-Encoding: zstd\r\n",
  );
  const [head = "", body] = answer.split("\r\n\r\n");
  expect(head.split("\r\n").toSorted()).toEqual([
    "Connection: close",
    "Date: Thu, 01 Jan 1970 00:00:00 GMT",
    "HTTP/1.1 200 OK",
    "Server: own",
    "Transfer-Encoding: chunked",
    "X-Odd: a\xfcb",
    "X-Two: 1",
    "X-Two: 2",
  ]);
  expect(body).toBe("2\r\nhi\r\n0");
  const asked = (heads[0] ?? "")
    .split("\r\n")
    .map((line) => line.replace(/^[^:]+:/, (name) => name.toLowerCase()))
    .map((line) => line.replace(/^(cdn-loop: adaptive-h3-)[A-Z2-7]{26}$/, "$1ID"));
  expect(asked.toSorted()).toEqual(
    [
      "accept-encoding: zstd",
      "cdn-loop: adaptive-h3-ID",
      "cf-connecting-ip: 127.0.0.1",
      "GET / HTTP/1.1",
      `host: ${url.slice("http://".length)}`,
      "x-forwarded-for: 127.0.0.1",
      `x-forwarded-host: localhost:${system.port}`,
      "x-forwarded-proto: https",
      Buffer.from("x-own: a\xfcb").toString("latin1"),
      "x-two: 1",
      "x-two: 2",
    ].toSorted(),
  );
});

/** How an origin answers a request for `/STATUS`: with its own Alt-Svc, and a body where one may be. */
function answerOf(request: string): string {
  const status = /\/(\d{3}) HTTP/.exec(request)?.[1] ?? "";
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? "";
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  const framing = {
    "101": `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    "204": "\r\n",
    "304": "\r\n",
  }[status];
  return `HTTP/1.1 ${status} Own\r\nX-Own: 1\r\nAlt-Svc: h3=":1"\r\n${framing ?? "Content-Length: 4\r\n\r\ndone"}`;
}

it("statuses, also those that no other response can be made with: they keep the origin's Alt-Svc where the worker asks", async () => {
  let asked = 0;
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      asked++;
      const answer = answerOf(bytes.toString("latin1"));
      socket.write(answer);
      if (answer.startsWith("HTTP/1.1 101")) socket.end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const system = await startTestSystem({ origin: `http://127.0.0.1:${(server.address() as { port: number }).port}` });
  await system.putPolicy(fixed("fixed-h3"));
  const own = 'h3=":1"';
  const offer = `h3=":${system.port}"; ma=60`;
  for (const [statuses, ofPage, ofPost] of [
    [[200, 204, 205, 304, 404, 599], offer, undefined],
    [[600, 799, 999], own, undefined],
  ] as const)
    for (const status of statuses)
      for (const [method, altSvc] of [
        ["GET", ofPage],
        ["POST", ofPost],
      ] as const) {
        asked = 0;
        const answer = await exchange(system, `${method} /${status}`, "Accept: text/html\r\nContent-Length: 0\r\n");
        expect(answer, method).toContain(`HTTP/1.1 ${status} `);
        expect(answer, `${method} ${status}`).toContain("X-Own: 1");
        expect([status, /^Alt-Svc: (.*)\r$/m.exec(answer)?.[1], asked]).toEqual([status, altSvc, 1]);
      }
  const websocket =
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const switched = await exchange(system, "GET /101", websocket, "Upgrade");
  expect(switched).toContain("HTTP/1.1 101 ");
  expect(switched).toContain("X-Own: 1");
  expect(switched).not.toContain("Alt-Svc");
});
