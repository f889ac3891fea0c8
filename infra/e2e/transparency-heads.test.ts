import { expect, it } from "vitest";
import { probe, startTestSystem } from "./harness.ts";
import { exchange, startRawOrigin } from "./raw-http.ts";

// Only here: the tables of headers and statuses in docs/transparency.md, with a worker and without.

/** The status, and the lines of these names, and the body, of an answer over HTTP/1.1. */
function partsOf(answer: string): unknown[] {
  const [head = "", body] = answer.split("\r\n\r\n");
  const lines = head.split("\r\n").filter((line) => /^(content-(length|type)|transfer-encoding):/i.test(line));
  return [Number(head.split(" ")[1]), lines.map((line) => line.toLowerCase()).toSorted(), body];
}

it("statuses without content keep the type, and no length but 0, whoever asks the origin", async () => {
  const type = "content-type: text/plain";
  const cases = [
    ["304", "Content-Length: 5\r\n\r\n", [304, [type], ""]],
    ["304", "\r\n", [304, [type], ""]],
    ["204", "Content-Length: 0\r\n\r\n", [204, [type], ""]],
    ["205", "Content-Length: 5\r\n\r\nhello", [205, ["content-length: 0", type], ""]],
    ["205", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", [205, ["content-length: 0", type], ""]],
    ["205", "Content-Length: 0\r\n\r\n", [205, ["content-length: 0", type], ""]],
  ] as const;
  const { url } = await startRawOrigin((head) => {
    const [status, rest] = cases[Number(/\/(\d+) /.exec(head)?.[1])] ?? ["", ""];
    const ends = head.startsWith("HEAD") ? rest.slice(0, rest.indexOf("\r\n\r\n") + 4) : rest;
    return `HTTP/1.1 ${status} Own\r\nContent-Type: text/plain\r\n${ends}`;
  });
  const system = await startTestSystem({ origin: url });
  const urls = cases.map((_, at) => `https://localhost:${system.port}/${at}`);
  const check = async (way: string): Promise<void> => {
    for (const [at, [, sent, expected]] of cases.entries())
      expect([way, sent, partsOf(await exchange(system, `GET /${at}`))]).toEqual([way, sent, expected]);
    expect(partsOf(await exchange(system, "HEAD /3"))).toEqual([205, ["content-length: 5", type], ""]);
    for (const protocol of ["h2", "h3"] as const)
      for (const [at, load] of (await probe(system, protocol, urls)).entries()) {
        const lines = Object.entries(load.headers)
          .filter(([name]) => /^content-(length|type)$/i.test(name))
          .map(([name, values]) => `${name.toLowerCase()}: ${values.join()}`)
          .toSorted();
        const [, sent, [status, headers]] = cases[at] ?? [undefined, undefined, []];
        expect([way, protocol, sent, load.status, lines, load.bytes, load.error]).toEqual([
          way,
          protocol,
          sent,
          status,
          headers,
          0,
          undefined,
        ]);
      }
  };
  await check("by the worker");
  process.kill(system.workerd.pid(), "SIGKILL");
  await check("without the worker");
});

it("heads that HTTP forbids: what nobody reads is a 502, and what one of both reads passes for GET", async () => {
  const answers = [
    ["X-Own: a\x01b", undefined],
    ["X-Own: a\x7fb", undefined],
    ["X-Own: a\0b", undefined],
    ["X(Own: 1", undefined],
    ["X-Own: a\r\n b", "a b"],
    ["X-Own : a\r\nX-Two: b", ""],
  ] as const;
  const { url } = await startRawOrigin(
    (head) => `HTTP/1.1 200 OK\r\n${answers[Number(/\/(\d) /.exec(head)?.[1])]?.[0]}\r\nContent-Length: 0\r\n\r\n`,
  );
  const system = await startTestSystem({ origin: url });
  const urls = answers.map((_, at) => `https://localhost:${system.port}/${at}`);
  const check = async (by: string): Promise<void> => {
    for (const protocol of ["h1", "h2", "h3"] as const)
      for (const [at, { status, headers, error }] of (await probe(system, protocol, urls)).entries()) {
        const [sent, got] = answers[at] ?? [];
        const expected = got === undefined ? [502, "", undefined] : [200, got, undefined];
        expect([by, protocol, sent, status, headers["X-Own"]?.join() ?? "", error]).toEqual([
          by,
          protocol,
          sent,
          ...expected,
        ]);
      }
    const posted = await probe(system, "h2", urls, ["-post-bytes", "1"]);
    expect([by, posted.map(({ status }) => status)]).toEqual([by, [502, 502, 502, 502, 200, 200]]);
  };
  await check("worker");
  process.kill(system.workerd.pid(), "SIGKILL");
  await check("edge");
});

it("fields that the edge's server adds, removes and names", async () => {
  const { url, heads } = await startRawOrigin(
    "HTTP/1.1 200 OK\r\nx-oWN:  a \r\nPragma: no-cache\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
  );
  const system = await startTestSystem({ origin: url });
  const check = async (): Promise<void> => {
    for (const protocol of ["h1", "h2", "h3"] as const) {
      heads.length = 0;
      const sent = ["Pragma: no-cache", "TE: trailers", "Proxy-Authorization: Basic a", "CF-Ray: 1", "X-Real-IP: 1"];
      const flags = [...sent, "Forwarded: for=1", "True-Client-IP: 1"].flatMap((line) => ["-header", line]);
      const [load] = await probe(system, protocol, [`https://localhost:${system.port}/`], flags);
      const names = (heads[0] ?? "").split("\r\n").map((line) => (line.split(":")[0] ?? "").toLowerCase());
      const added = protocol === "h1" ? ["cache-control"] : [];
      expect([protocol, names.toSorted()]).toEqual([
        protocol,
        [
          ...added,
          "cdn-loop",
          "cf-connecting-ip",
          "get / http/1.1",
          "host",
          "pragma",
          ...(names.includes("user-agent") ? ["user-agent"] : []),
          "x-forwarded-for",
          "x-forwarded-host",
          "x-forwarded-proto",
        ],
      ]);
      expect([protocol, { ...load?.headers, Date: load?.headers["Date"]?.length }]).toEqual([
        protocol,
        { "Cache-Control": ["no-cache"], "Content-Length": ["0"], Date: 1, Pragma: ["no-cache"], "X-Own": ["a"] },
      ]);
    }
  };
  await check();
  process.kill(system.workerd.pid(), "SIGKILL");
  await check();
});

it("requests that get an answer of the edge's own or of the runtime's", async () => {
  const { url, heads } = await startRawOrigin("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  const system = await startTestSystem({ origin: url });
  for (const [status, target, headers] of [
    [400, "/", "X-Own: a\x01b\r\n"],
    [413, "/_h3/v1/activation", "Content-Length: 1000000000\r\n"],
    [414, `/${"a".repeat(67_000)}`, ""],
    [417, "/", "Expect: another\r\n"],
    [431, "/", `X-Own: ${"a".repeat(80_000)}\r\n`],
    [431, `/${"a".repeat(80_000)}`, ""],
  ] as const)
    expect(await exchange(system, `GET ${target}`, headers)).toContain(`HTTP/1.1 ${status} `);
  expect(heads).toEqual([]);
});
