import { describe, expect, it } from "vitest";
import cases from "../edge/testdata/field-lines.json" with { type: "json" };
import { fixed, type Load, type Protocol, probe, startTestSystem, type TestSystem } from "./harness.ts";
import { startRawOrigin } from "./raw-http.ts";

// Only here: what the worker's runtime makes of fields that are repeated or empty. The edge does the same where it asks the origin itself.

const PROTOCOLS: readonly Protocol[] = ["h1", "h2", "h3"];

const nameOf = (line: string): string => line.slice(0, line.indexOf(":"));
const valueOf = (line: string): string => line.slice(line.indexOf(":") + 1).trim();

/** The lines of a load's head that have one of these names, without regard to case, in the order of the names. */
function linesOf({ headers }: Load, names: readonly string[]): string[] {
  const values = new Map(Object.entries(headers).map(([name, own]) => [name.toLowerCase(), own]));
  return [...new Set(names)].flatMap((name) =>
    (values.get(name.toLowerCase()) ?? []).map((value) => `${name}: ${value}`),
  );
}

/** Runs `check` with a worker, for pages that get a header more and for those that do not, and with none. */
async function inEachWay(
  answer: (head: string) => string,
  check: (system: TestSystem, way: string, heads: string[]) => Promise<void>,
): Promise<void> {
  const { url, heads } = await startRawOrigin(answer);
  const system = await startTestSystem({ origin: url });
  await check(system, "passed by the worker", heads);
  await system.putPolicy(fixed("fixed-h3"));
  await check(system, "with an offer", heads);
  process.kill(system.workerd.pid(), "SIGKILL");
  await check(system, "without the worker", heads);
}

const EMPTY = "Content-Length: 0\r\n\r\n";

describe("of responses", () => {
  it("each line comes out as the table says", async () => {
    await inEachWay(
      (head) => {
        const { sent } = cases.responses[Number(/\/(\d+) /.exec(head)?.[1])] ?? { sent: [] };
        return `HTTP/1.1 200 OK\r\n${sent.map((line) => `${line}\r\n`).join("")}${EMPTY}`;
      },
      async (system, way) => {
        const urls = cases.responses.map((_, at) => `https://localhost:${system.port}/${at}`);
        for (const protocol of PROTOCOLS) {
          const loads = await probe(system, protocol, urls, ["-header", "Accept: text/html"]);
          for (const [at, { name, sent, got }] of cases.responses.entries())
            expect([way, protocol, name, linesOf(loads[at] as Load, sent.map(nameOf))]).toEqual([
              way,
              protocol,
              name,
              got,
            ]);
        }
      },
    );
  });

  it("the fields that are joined, and that go when they are empty, are those of the list", async () => {
    await inEachWay(
      (head) => {
        const [, name, values] = /\/(\S+)\/(two|none) /.exec(head) ?? [];
        const lines = values === "two" ? `${name}: 1\r\n${name}: 2\r\n` : `${name}:\r\n`;
        return `HTTP/1.1 200 OK\r\n${lines}${EMPTY}`;
      },
      async (system, way) => {
        const names = [...cases.joined, ...cases.apart];
        const urls = names.flatMap((name) =>
          ["two", "none"].map((values) => `https://localhost:${system.port}/${name}/${values}`),
        );
        const loads = await probe(system, "h2", urls, ["-header", "Accept: text/html"]);
        for (const [at, name] of names.entries()) {
          const got = [loads[2 * at], loads[2 * at + 1]].map((load) => linesOf(load as Load, [name]).map(valueOf));
          const isJoined = cases.joined.includes(name) && name !== "WWW-Authenticate";
          expect([way, name, got]).toEqual([
            way,
            name,
            JOINED[name] ?? (isJoined ? [["1, 2"], []] : [["1", "2"], [""]]),
          ]);
        }
      },
    );
  });
});

/** What joins and yet comes out as it was sent, and the date that the edge adds. */
const JOINED: Readonly<Record<string, unknown>> = {
  "Strict-Transport-Security": [["1", "2"], []],
  "WWW-Authenticate": [["1", "2"], []],
  Date: [["1, 2"], [expect.stringContaining("GMT")]],
};

it("of requests, each line reaches the origin as the table says", async () => {
  await inEachWay(
    () => `HTTP/1.1 200 OK\r\n${EMPTY}`,
    async (system, way, heads) => {
      for (const protocol of PROTOCOLS)
        for (const { name, sent, got } of cases.requests) {
          heads.length = 0;
          const flags = sent.flatMap((line) => ["-header", line]);
          await probe(system, protocol, [`https://localhost:${system.port}/`], flags);
          const names = new Set(sent.map((line) => nameOf(line).toLowerCase()));
          const reached = (heads[0] ?? "").split("\r\n").filter((line) => names.has(nameOf(line).toLowerCase()));
          const plain = (line: string): string => `${nameOf(line).toLowerCase()}: ${valueOf(line)}`;
          expect([way, protocol, name, reached.map(plain), heads.length]).toEqual([
            way,
            protocol,
            name,
            got.map(plain),
            1,
          ]);
        }
    },
  );
});
