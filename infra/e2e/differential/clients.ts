import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import { onTestFinished } from "vitest";
import { PEER_PROGRAM } from "../../setup/build.ts";
import { type Field, type Message, readFields, readMessage } from "./message.ts";

/** What a client sends. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fields: readonly Field[];
  readonly body: Buffer;
  readonly framing: "none" | "length" | "chunked";
}

/** What a client got. Status 0: nothing. */
export interface Answer {
  readonly status: number;
  readonly interim: readonly number[];
  readonly fields: readonly Field[];
  readonly body: Buffer;
  readonly trailers: readonly Field[];
  readonly whole: boolean;
  /** Why not. */
  readonly error: string;
}

export type Client = (request: Request) => Promise<Answer>;

export const NOTHING: Answer = {
  status: 0,
  interim: [],
  fields: [],
  body: Buffer.alloc(0),
  trailers: [],
  whole: false,
  error: "nothing",
};

/** Longer than the edge waits for an origin here. */
const PATIENCE_MS = 4_000;

const plainOrTls = (port: number, ca?: Buffer): Socket =>
  ca === undefined
    ? connectPlain(port, "127.0.0.1")
    : connectTls({ port, host: "127.0.0.1", servername: "localhost", ca, ALPNProtocols: ["http/1.1"] });

/** HTTP/1.1 by bytes, a connection for each request. */
export const h1Client =
  (port: number, ca?: Buffer): Client =>
  async (request) => {
    const socket = plainOrTls(port, ca);
    socket.setNoDelay();
    const done = Promise.withResolvers<void>();
    const timer = setTimeout(done.resolve, PATIENCE_MS);
    let bytes = Buffer.alloc(0);
    let answer = NOTHING;
    let error = "";
    const look = (ended: boolean): void => {
      answer = readAnswer(bytes, ended, request.method);
      if (answer.whole || ended) done.resolve();
    };
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      look(false);
    });
    socket.on("error", (cause) => (error = cause.message));
    socket.on("close", () => look(true));
    socket.write(bytesOf(request));
    await done.promise;
    clearTimeout(timer);
    socket.destroy();
    return { ...answer, error: answer.whole ? "" : error || answer.error };
  };

function bytesOf({ method, target, host, fields, body, framing }: Request): Buffer {
  const framed: Field[] =
    framing === "none"
      ? []
      : [framing === "length" ? ["content-length", `${body.length}`] : ["transfer-encoding", "chunked"]];
  const lines = [["host", host] as const, ...fields, ...framed].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  const chunks = body.length === 0 ? ["0\r\n\r\n"] : [`${body.length.toString(16)}\r\n`, body, "\r\n0\r\n\r\n"];
  return Buffer.concat([head, ...(framing === "chunked" ? chunks : [body]).map((one) => Buffer.from(one))]);
}

function readAnswer(bytes: Buffer, ended: boolean, method: string): Answer {
  const interim: number[] = [];
  for (let rest = bytes; ;) {
    const status = Number(/^HTTP\/[\d.]+ (\d{3})/.exec(rest.toString("latin1", 0, 12))?.[1] ?? 0);
    const hasBody = method !== "HEAD" && status >= 200 && status !== 204 && status !== 304;
    const message: Message | undefined = readMessage(rest, ended, true, hasBody);
    if (message === undefined) return { ...NOTHING, interim };
    if (status >= 100 && status < 200) {
      interim.push(status);
      rest = message.rest;
      continue;
    }
    const { fields, body, whole, rest: after } = message;
    // curl writes trailers behind the head.
    const trailers = message.trailers.length > 0 ? message.trailers : readFields(after.toString("latin1"));
    return { status, interim, fields, body, trailers, whole, error: whole ? "" : "cut off" };
  }
}

/** A client of HTTP/2 or HTTP/3 in Go, with one connection for all its requests. It ends with the test. */
export function goClient(protocol: "h2" | "h3", port: number, caFile: string): Client {
  const args = ["probe", "-stdin", "-protocol", protocol, "-ca", caFile, "-timeout", `${PATIENCE_MS}ms`];
  const program = spawn(PEER_PROGRAM, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface(program.stdout).on("line", (line) => {
    const { id, body, ...rest } = JSON.parse(line) as Omit<Answer, "body" | "whole"> & { id: number; body: string };
    const fields = (rest as unknown as { headers: [string, string][] }).headers.map(lowered);
    const trailers = rest.trailers.map(lowered);
    const { error = "" } = rest as { error?: string };
    waiting.get(id)?.({ ...rest, fields, trailers, body: Buffer.from(body, "base64"), whole: error === "", error });
    waiting.delete(id);
  });
  onTestFinished(async () => {
    program.stdin.end();
    await once(program, "exit");
  });
  let last = 0;
  return ({ method, target, host, fields, body, framing }) =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      const length = framing === "length";
      program.stdin.write(
        `${JSON.stringify({ id, server: `localhost:${port}`, host, method, target, headers: fields, body: body.toString("base64"), length })}\n`,
      );
    });
}

const lowered = ([name, value]: Field): Field => [name.toLowerCase(), value];

/** curl over HTTP/2, which reads headers as nghttp2 does. It keeps them in this folder. */
export function curlClient(port: number, caFile: string, folder: string): Client {
  let last = 0;
  return async ({ method, target, fields, host, body, framing }) => {
    const [headFile, fieldsFile] = [join(folder, `head-${++last}`), join(folder, `fields-${last}`)];
    const headers = [["host", host] as const, ...fields].map(
      ([name, value]) => name + (value === "" ? ";" : `: ${value}`),
    );
    const unasked = [
      "accept:",
      "user-agent:",
      "content-type:",
      "expect:",
      framing === "chunked" ? "transfer-encoding: chunked" : "te:",
    ];
    const args = [
      "-sS",
      "--http2",
      "--path-as-is",
      "-g",
      "-m",
      `${PATIENCE_MS / 1000}`,
      "--cacert",
      caFile,
      "-D",
      headFile,
    ];
    writeFileSync(fieldsFile, [...headers, ...unasked].join("\n"), "latin1");
    const program = spawn("curl", [
      ...args,
      ...(method === "HEAD" ? ["-I", "-o", "/dev/null"] : ["-X", method]),
      ...(framing === "none" ? [] : ["--data-binary", "@-"]),
      "-H",
      `@${fieldsFile}`,
      "--request-target",
      target,
      `https://localhost:${port}/`,
    ]);
    program.stdin.on("error", () => undefined).end(body);
    const [content = Buffer.alloc(0), complaint] = (
      await Promise.all([program.stdout.toArray(), program.stderr.toArray()])
    ).map((parts) => Buffer.concat(parts as Buffer[]));
    const head = existsSync(headFile) ? readFileSync(headFile) : Buffer.alloc(0);
    const answer = readAnswer(head, true, "HEAD");
    const error = complaint?.toString() ?? "";
    return { ...answer, body: method === "HEAD" ? Buffer.alloc(0) : content, whole: error === "", error };
  };
}
