// Only here: Node closes a connection while an upload is on its way through edge and workerd.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { probe, startTestSystem } from "./harness.ts";

it("an answer before the end of an upload, after which Node closes the connection, comes whole, and the origin is asked once", async () => {
  const uploads = 8;
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    const [, status, bytes] = /^\/(\d+)\/(\d+)$/.exec(request.url ?? "") ?? [];
    response
      .writeHead(Number(status), { connection: "close", "content-length": bytes })
      .end(Buffer.alloc(Number(bytes)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const system = await startTestSystem({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const check = async (way: string): Promise<void> => {
    for (const protocol of ["h1", "h2", "h3"] as const)
      for (const [status, bytes] of [
        [200, 200_000],
        [413, 20],
      ] as const) {
        asked = 0;
        const url = `https://localhost:${system.port}/${status}/${bytes}`;
        // The answers end the connections over HTTP/1.1, so each upload has its own.
        for (let i = 0; i < uploads; i++) {
          const [load] = await probe(system, protocol, [url], ["-post-bytes", "100000"]);
          expect([way, load?.status, load?.bytes, load?.error]).toEqual([way, status, bytes, undefined]);
        }
        expect([way, protocol, asked]).toEqual([way, protocol, uploads]);
      }
  };
  await check("with the worker");
  process.kill(system.workerd.pid(), "SIGKILL");
  await check("without the worker");
});
