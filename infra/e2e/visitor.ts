import { Agent, request } from "node:http";
import { onTestFinished } from "vitest";
import type { TestSystem } from "./harness.ts";

/** Asks workerd for pages as the edge does, with what the edge would say of the client. It ends with the test. */
export function visitor(
  system: Pick<TestSystem, "workerd">,
): (path: string, cf: object, client: string, isPage?: boolean) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  onTestFinished(() => agent.destroy());
  return (path, cf, client, isPage = true) =>
    new Promise((resolve, reject) => {
      const headers = {
        host: "site.test",
        "mf-cf-blob": JSON.stringify(cf),
        "cf-connecting-ip": client,
        "sec-fetch-dest": isPage ? "document" : "image",
      };
      const asked = request({ agent, socketPath: system.workerd.visitorsSocket, path, headers }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      });
      asked.on("error", reject).end();
    });
}

/** What the edge says of a connection over HTTP/2. */
export function cfOfH2(rttMs: number, own: object = {}): object {
  return {
    httpProtocol: "HTTP/2",
    clientTcpRtt: rttMs,
    adaptiveH3: { connectionId: "c", transport: "tcp", packetsSent: 3, packetsLost: 0, bytesSent: 4_000, ...own },
  };
}
