import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { connect } from "node:tls";
import { onTestFinished } from "vitest";
import type { TestSystem } from "./harness.ts";

/** An origin that no HTTP library is part of. It keeps the head of each request, and answers with these bytes. */
export async function startRawOrigin(
  answer: string | ((head: string) => string),
): Promise<{ url: string; heads: string[] }> {
  const heads: string[] = [];
  const server = createServer((socket: Socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
        const head = text.slice(0, end);
        heads.push(head);
        text = text.slice(end + 4);
        socket.write(typeof answer === "string" ? answer : answer(head), "latin1");
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, heads };
}

/** Sends a request over HTTP/1.1, in UTF-8, and returns all that comes back. */
export async function exchange(
  system: TestSystem,
  requestLine: string,
  headers = "",
  connection = "close",
): Promise<string> {
  const socket = connect({
    port: system.port,
    host: "127.0.0.1",
    servername: "localhost",
    ca: readFileSync(join(system.stateDir, "dev-cert.pem")),
    ALPNProtocols: ["http/1.1"],
  });
  await once(socket, "secureConnect");
  socket.write(
    `${requestLine} HTTP/1.1\r\nHost: localhost:${system.port}\r\nConnection: ${connection}\r\n${headers}\r\n`,
  );
  let text = "";
  for await (const bytes of socket) text += (bytes as Buffer).toString("latin1");
  return text;
}
