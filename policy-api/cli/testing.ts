import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { onTestFinished, vi } from "vitest";
import type { Activation, ActivationChange } from "../decision/activation.ts";
import { API_PATH } from "../api/contract/access.ts";
import { send, TestPorts, tokensOf } from "../api/testing.ts";
import type { Io } from "./io.ts";
import { run } from "./run.ts";

export const TOKENS = { write: "writer-secret", read: "reader-secret", autopilot: "autopilot-secret" } as const;
/** The API's clock stands here. */
export const MADE_MS = Date.parse("2026-11-21T10:00:00.250Z");

/** A folder that goes with the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "h3-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface TestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Canned {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API in this process, on a socket, over a store in memory. */
export interface TestApi {
  readonly url: string;
  /** Where it keeps what it knows. */
  readonly ports: TestPorts;
  /** Requests in their order. */
  readonly requests: TestRequest[];
  /** What was asked, as `METHOD path`. */
  asked(): string[];
  /** Answers in the place of the API; undefined: the API does. */
  instead: ((request: TestRequest) => Canned | undefined | Promise<Canned | undefined>) | undefined;
  /** What somebody else does meanwhile. */
  change(change: ActivationChange, author?: string): Promise<void>;
  current(): Activation;
  close(): Promise<void>;
}

/** Starts the API; it goes with the test. */
export async function startApi(tls?: { readonly cert: string; readonly key: string }): Promise<TestApi> {
  vi.useFakeTimers({ toFake: ["Date"], now: MADE_MS });
  onTestFinished(() => void vi.useRealTimers());
  const ports = new TestPorts();
  ports.tokens = await tokensOf(
    ["writer", "write", TOKENS.write],
    ["reader", "read", TOKENS.read],
    ["auto", "autopilot", TOKENS.autopilot],
  );
  const requests: TestRequest[] = [];
  const fetch = async ({ method, url, headers, body: stream }: Request): Promise<Response> => {
    const text = stream === null ? "" : await new Response(stream).text();
    const { pathname, search } = new URL(url);
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const request: TestRequest = { method, path: pathname + search, headers: Object.fromEntries(headers), body };
    requests.push(request);
    const canned = await api.instead?.(request);
    if (canned === undefined)
      return send(ports, new Request(url, { method, headers, ...(text === "" ? {} : { body: text }) }));
    const { status, headers: more = {}, body: sent } = canned;
    return new Response(typeof sent === "string" ? sent : JSON.stringify(sent), { status, headers: more });
  };
  const server = createAdaptorServer({
    fetch,
    ...(tls === undefined ? {} : { createServer: createTlsServer, serverOptions: { ...tls } }),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const api: TestApi = {
    url: tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    ports,
    requests,
    asked: () => requests.map(({ method, path }) => `${method} ${path.replace(API_PATH, "")}`),
    instead: undefined,
    change: async (change, author = "somebody") =>
      void (await ports.store.change(change, { author, note: null, ifMatch: "*" })),
    current: () => ports.store.current,
    close: async () => {
      if (!server.listening) return;
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  onTestFinished(() => api.close());
  return api;
}

export interface TestIo extends Io {
  readonly stdin: PassThrough & { isTTY: boolean };
  readonly stdout: PassThrough;
  readonly stderr: PassThrough & { isTTY: boolean };
  readonly folder: string;
}

/** A world of a command: a folder of its own, three minutes after all was made, and nobody at the terminal. */
export function testIo(env: Record<string, string> = {}): TestIo {
  const folder = testFolder();
  const stream = (): PassThrough & { isTTY: boolean } => Object.assign(new PassThrough(), { isTTY: false });
  return {
    env,
    folder,
    projectFolder: folder,
    stdin: stream(),
    stdout: stream(),
    stderr: stream(),
    nowMs: () => MADE_MS + 185_000,
  };
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Somebody who uses the command line: a server, a folder, a token that may write. */
export interface Person {
  readonly api: TestApi;
  readonly io: TestIo;
  /** Runs a command line given as words with spaces between: into a pipe, or on a terminal of so many columns. */
  readonly does: (line: string | readonly string[], columns?: number) => Promise<Ran>;
  /** Sits at a terminal and types this when asked. */
  readonly types: (text: string) => void;
  /** Writes a file into the folder. */
  readonly writes: (name: string, content: unknown) => void;
}

export async function person(token: string = TOKENS.write): Promise<Person> {
  const api = await startApi();
  const io = testIo({ H3_URL: api.url, H3_TOKEN: token });
  return {
    api,
    io,
    does: async (line, columns) => {
      Object.assign(io.stdout, { columns });
      const code = await run(typeof line === "string" ? line.split(" ") : line, io);
      return { code, out: drained(io.stdout), err: drained(io.stderr) };
    },
    types: (text) => {
      io.stdin.isTTY = true;
      io.stderr.isTTY = true;
      io.stdin.write(text);
    },
    writes: (name, content) =>
      writeFileSync(join(io.folder, name), typeof content === "string" ? content : JSON.stringify(content)),
  };
}

function drained(stream: PassThrough): string {
  return String(stream.read() ?? "");
}
