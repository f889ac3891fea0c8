import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { onTestFinished } from "vitest";

/** Gives a port on which the edge can be had over TCP alone. It ends with the test. @param portOf The edge's own, when it is asked. */
export async function forwardTcp(portOf: () => number): Promise<number> {
  const server = createServer((socket) => {
    const edge = connect(portOf(), "127.0.0.1");
    socket.pipe(edge).pipe(socket);
    for (const end of [socket, edge]) end.on("error", () => end.destroy());
    onTestFinished(() => void socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
