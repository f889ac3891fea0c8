import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

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
