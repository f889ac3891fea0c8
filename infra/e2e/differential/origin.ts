import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { portOf } from "../harness.ts";
import { type Message, readMessage } from "./message.ts";

/** What an origin does with a request: bytes as they go out, one character a byte, pauses in ms, and the connection's end. */
export interface Script {
  /** Whether it answers before it has read the request's body. It reads the rest then, unless it closes. */
  readonly early: boolean;
  readonly steps: readonly (string | number)[];
  /** `silent`: it says nothing more, and keeps the connection. */
  readonly end: "keep" | "close" | "silent";
}

export interface Origin {
  readonly port: number;
  /** Has requests that name this id (in `x-case`, or `case=` in the target) answered so, and gives what was asked. */
  expect(id: string, script: Script): Asked[];
}

export interface Asked extends Message {
  /** Whether all of the request came. */
  readonly whole: boolean;
}

/** Starts an origin that plays scripts. It ends with the test. */
export async function startScriptedOrigin(): Promise<Origin> {
  const cases = new Map<string, { script: Script; asked: Asked[] }>();
  const server = createServer((socket) => void serve(socket, cases));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return {
    port: portOf(`:${(server.address() as { port: number }).port}`),
    expect: (id, script) => {
      const asked: Asked[] = [];
      cases.set(id, { script, asked });
      return asked;
    },
  };
}

async function serve(socket: Socket, cases: ReadonlyMap<string, { script: Script; asked: Asked[] }>): Promise<void> {
  socket.setNoDelay();
  socket.on("error", () => undefined);
  let bytes = Buffer.alloc(0);
  let ended = false;
  let more = Promise.withResolvers<void>();
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    more.resolve();
  });
  socket.on("close", () => {
    ended = true;
    more.resolve();
  });
  /** Waits for a request, or for its head alone. Undefined: the connection ended before. */
  const read = async (wholly: boolean): Promise<Message | undefined> => {
    for (;;) {
      const message = readMessage(bytes, ended, false);
      if (message !== undefined && (message.whole || !wholly || ended)) return message;
      if (ended) return undefined;
      await more.promise;
      more = Promise.withResolvers();
    }
  };
  for (;;) {
    const head = await read(false);
    if (head === undefined) return;
    const id = head.fields.find(([name]) => name === "x-case")?.[1] ?? /[?&]case=(\w+)/.exec(head.start)?.[1] ?? "";
    const { script, asked } = cases.get(id) ?? { script: UNKNOWN, asked: [] };
    const place = asked.push(head) - 1;
    const reading = read(true).then((message) => {
      if (message !== undefined) asked[place] = message;
      return message;
    });
    if (!script.early) await reading;
    for (const step of script.steps)
      if (typeof step === "number") await sleep(step);
      else socket.write(step, "latin1");
    if (script.end === "close") socket.end();
    const last = await reading;
    if (script.end === "silent") return;
    if (
      script.end !== "keep" ||
      last === undefined ||
      last.fields.some(([name, value]) => name === "connection" && value === "close")
    ) {
      socket.end();
      return;
    }
    bytes = last.rest as Buffer<ArrayBuffer>;
  }
}

const UNKNOWN: Script = { early: false, steps: ["HTTP/1.1 404 Unknown\r\nContent-Length: 0\r\n\r\n"], end: "close" };
