// Only here: what workerd and Go's client make of answers that break HTTP's framing.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { probe, type Protocol, startTestSystem } from "./harness.ts";
import { transparencyTable } from "./transparency-page.ts";

const OK = "HTTP/1.1 200 OK\r\n";
/** By the keys of "Answers that hardly any server gives" in docs/transparency.md. */
const ANSWERS: Readonly<Record<string, string>> = {
  identity: `${OK}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi`,
  control: `${OK}X-Own: a\x01b\x7f\r\nContent-Length: 2\r\n\r\nhi`,
  nul: `${OK}X-Own: a\0b\r\nContent-Length: 2\r\n\r\nhi`,
  folded: `${OK}X-Own: a\r\n b\r\nContent-Length: 2\r\n\r\nhi`,
  name: `${OK}X Own: a\r\nContent-Length: 2\r\n\r\nhi`,
  colon: `${OK}X-Own\r\nContent-Length: 2\r\n\r\nhi`,
  status: "HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nhi",
  lengths: `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi`,
  http: "hello\r\n\r\n",
};

/** An origin that answers `/KEY`, counts by key how often it was asked, and keeps its connections open. */
async function startFramingOrigin(): Promise<{ url: string; asked: Map<string, number> }> {
  const asked = new Map<string, number>();
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      // A request may come together with the body of the one before, which was answered without it.
      for (const [, key = ""] of bytes.toString("latin1").matchAll(/[A-Z]+ \/(\w+) HTTP/g)) {
        asked.set(key, (asked.get(key) ?? 0) + 1);
        socket.write(ANSWERS[key] ?? "", "latin1");
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, asked };
}

it("answers that hardly any server gives do what the page says, and no POST is asked for twice", async () => {
  const rows = transparencyTable("Answers that hardly any server gives");
  expect(rows.map(([key]) => key)).toEqual(Object.keys(ANSWERS).map((key) => `\`${key}\``));
  const { url, asked } = await startFramingOrigin();
  const system = await startTestSystem({ origin: url });
  const keys = Object.keys(ANSWERS);
  const urls = keys.map((key) => `https://localhost:${system.port}/${key}`);
  const load = async (protocol: Protocol, flags: readonly string[] = []): Promise<unknown[]> => {
    asked.clear();
    const loads = await probe(system, protocol, urls, flags);
    return keys.map((key, i) => [key, loads[i]?.error ?? loads[i]?.status, asked.get(key)]);
  };
  const said = (cell = "", key = ""): unknown[] => [
    key.slice(1, -1),
    cell.startsWith("502") ? 502 : 200,
    cell.includes("twice") ? 2 : 1,
  ];
  const protocols = ["h1", "h2", "h3"] as const;
  for (const protocol of protocols) {
    expect(await load(protocol)).toEqual(rows.map(([key, , worker]) => said(worker, key)));
    await load(protocol, ["-post-bytes", "4"]);
    expect(keys.map((key) => asked.get(key))).toEqual(keys.map(() => 1));
  }
  process.kill(system.workerd.pid(), "SIGKILL");
  for (const protocol of protocols)
    for (const flags of [[], ["-post-bytes", "4"]])
      expect(await load(protocol, flags)).toEqual(rows.map(([key, , , edge]) => said(edge, key)));
});
