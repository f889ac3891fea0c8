import { createSocket, type Socket } from "node:dgram";
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

/** Lets UDP through as well on such a port, from now on. @param port What `forwardTcp` gave */
export async function forwardUdp(port: number, edgePort: number): Promise<void> {
  const front = createSocket("udp4");
  const backs = new Map<number, Socket>();
  front.on("message", (datagram, from) => {
    let back = backs.get(from.port);
    if (back === undefined) {
      back = createSocket("udp4", (reply) => front.send(reply, from.port, from.address));
      backs.set(from.port, back);
    }
    back.send(datagram, edgePort, "127.0.0.1");
  });
  front.bind(port, "127.0.0.1");
  await once(front, "listening");
  onTestFinished(() => {
    for (const socket of [front, ...backs.values()]) socket.close();
  });
}
