import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { PathSample } from "../../policy-api/decision/sample.ts";

export interface PostedSample extends PathSample {
  readonly clientAddress: string;
}

/**
 * Stands between an edge and the worker's internal listener, so that what the sender counted of each connection can be
 * written beside the load that it carried. Without a listener behind it, it only looks.
 */
export async function startSampleTee(
  socket: string,
  listener: string | undefined,
  onSample: (sample: PostedSample) => void,
) {
  const server = createServer((incoming, reply) => {
    void (async () => {
      const body = await text(incoming);
      // To the worker first: what it decides next must not wait for us.
      reply.writeHead(listener === undefined ? 204 : await pass(listener, body)).end();
      for (const sample of (JSON.parse(body) as { samples: PostedSample[] }).samples) onSample(sample);
    })().catch(() => reply.writeHead(502).end());
  });
  server.listen(socket);
  await once(server, "listening");
  return {
    socket,
    stop: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function pass(socketPath: string, body: string): Promise<number> {
  const call = httpRequest({ socketPath, method: "POST", path: "/samples" });
  call.end(body);
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 502;
}
