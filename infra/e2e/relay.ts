import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { freePort } from "../workerd/listening.ts";

export interface Relay {
  readonly port: number;
  /** The number of datagrams from the server to the client, and how many of them were dropped. */
  readonly down: { packets: number; dropped: number };
}

/** What the relay does to datagrams on their way to the client. */
export interface RelayPath {
  /** Drops every n-th datagram, so that each run drops the same ones. */
  readonly dropEvery?: number;
  /** Lets this many bytes a second through; the rest waits. */
  readonly rateBps?: number;
}

/**
 * Gives a client its own path to the edge, without root: it relays TCP and UDP on one port number, from the client's own
 * loopback address.
 *
 * @param clientAddress The loopback address, or a function that returns one for each connection.
 */
export async function startRelay(
  edgePort: number,
  clientAddress: string | (() => string),
  { dropEvery = Infinity, rateBps = Infinity }: RelayPath = {},
): Promise<Relay> {
  const localAddress = typeof clientAddress === "string" ? (): string => clientAddress : clientAddress;
  const down = { packets: 0, dropped: 0 };
  const sockets = new Set<Socket>();
  const tcp = createServer((client) => {
    const server = connect({ host: "127.0.0.1", port: edgePort, localAddress: localAddress() });
    for (const socket of [client, server]) {
      // Pass on each part at once. Without this, a part may wait for the acknowledgement of the one before.
      socket.setNoDelay();
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.pipe(client);
  });
  // Not the port that the kernel gives: it may have given the same number to somebody's UDP socket.
  const port = await freePort();
  tcp.listen(port, "127.0.0.1");
  await once(tcp, "listening");

  const front = createSocket("udp4");
  front.bind(port, "127.0.0.1");
  await once(front, "listening");
  const paths = new Map<number, UdpSocket>();
  const ended = new AbortController();
  let freeAtMs = 0;
  const toClient = (datagram: Buffer, from: RemoteInfo): void => {
    const nowMs = performance.now();
    freeAtMs = Math.max(freeAtMs, nowMs) + (datagram.length / rateBps) * 1000;
    if (freeAtMs - nowMs < 1) {
      front.send(datagram, from.port, from.address);
      return;
    }
    setTimeout(() => {
      if (!ended.signal.aborted) front.send(datagram, from.port, from.address);
    }, freeAtMs - nowMs);
  };
  front.on("message", (datagram, from) => {
    let back = paths.get(from.port);
    if (back === undefined) {
      back = createSocket("udp4");
      back.bind(0, localAddress());
      back.on("error", () => undefined);
      back.on("message", (reply) => {
        down.packets++;
        if (down.packets % dropEvery === 0) down.dropped++;
        else toClient(reply, from);
      });
      paths.set(from.port, back);
    }
    back.send(datagram, edgePort, "127.0.0.1");
  });

  onTestFinished(async () => {
    ended.abort();
    for (const path of paths.values()) path.close();
    front.close();
    for (const socket of sockets) socket.destroy();
    tcp.close();
    await once(tcp, "close");
  });
  return { port, down };
}
