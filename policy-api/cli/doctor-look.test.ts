import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { filesOf, lookAt } from "./doctor-look.ts";
import { judged, type QuicTry } from "./doctor-quic.ts";
import { askRecords } from "./doctor-records.ts";

const SITE = "https://www.example.com";

it("finds files of the same site that a page loads: a few, each once, images first", () => {
  const page = new URL(`${SITE}/shop/cart`);
  const html = `<link rel=stylesheet href="/a.css?v=2&amp;w=1"><link rel="canonical" href="/shop"><script src='b.js'></script>
    <img alt="" src=c.png><img src="https://cdn.example/d.png"><img src="data:image/png;base64,xx"><a href="/page">page</a>
    <img src="c.png"><IMG SRC="https://www.example.com/e.png"><link href="/f.ico" rel="shortcut icon">`;
  expect(filesOf(html, page)).toEqual(["/shop/c.png", "/e.png", "/a.css?v=2&w=1"]);
  expect(filesOf('<script src="b.js"></script><link rel="preload" href="/f">', page)).toEqual(["/shop/b.js", "/f"]);
  expect(filesOf("no page", page)).toEqual([]);
  expect(filesOf(html, page, new URL("https://cdn.example"))).toEqual(["/d.png"]);
});

it("looks at https alone", async () => {
  const endpoint = { origin: "http://localhost:1", token: "t", ca: undefined, caFile: undefined, timeoutMs: 1000 };
  await expect(lookAt(endpoint)).rejects.toThrow("give an https address");
  await expect(lookAt({ ...endpoint, origin: "https://localhost:1" })).rejects.toThrow("cannot be reached");
});

it.each([
  ["an error", 500, Buffer.from("no")],
  ["no message", 200, Buffer.from([])],
  ["a message that breaks off", 200, Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, 3, 0, 0, 0, 0, 3, 0x77])],
  [
    "an alias",
    200,
    Buffer.from([0, 0, 0x81, 0x80, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 65, 0, 1, 0, 0, 0, 9, 0, 5, 0, 0, 1, 0x61, 0]),
  ],
  ["a refusal", 200, Buffer.from([0, 0, 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0])],
])("does not know what DNS offers where it gets %s", async (_what, status, body) => {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  const resolver = `http://127.0.0.1:${(server.address() as AddressInfo).port}/dns-query`;
  expect((await askRecords(new URL(SITE), resolver)).offersH3).toBeUndefined();
});

it.each<[string, QuicTry | undefined, boolean, boolean | undefined]>([
  ["a status is a connection", { status: 404, error: "the body broke off" }, true, true],
  ["silence is none", { status: 0, error: "timeout: no recent network activity" }, true, false],
  [
    "silence says nothing where no UDP gets out",
    { status: 0, error: "timeout: no recent network activity" },
    false,
    undefined,
  ],
  [
    "a certificate says nothing",
    { status: 0, error: "x509: certificate signed by unknown authority" },
    true,
    undefined,
  ],
  ["a client that does not run says nothing", undefined, true, undefined],
])("of QUIC: %s", async (_what, tried, hasWayOut, works) => {
  expect((await judged(tried, async () => hasWayOut)).works).toBe(works);
});
