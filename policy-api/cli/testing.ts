import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import type { Io } from "./io.ts";
import { run } from "./run.ts";
import { type FakeApi, MADE_MS, startFakeApi, TOKENS } from "./testing-api.ts";

/** A folder that goes with the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "h3-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The API on a socket that goes with the test. */
export async function fakeApi(tls?: Parameters<typeof startFakeApi>[0]): Promise<FakeApi> {
  const api = await startFakeApi(tls);
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
  readonly api: FakeApi;
  readonly io: TestIo;
  /** Runs a command line given as words with spaces between. */
  readonly does: (line: string | readonly string[]) => Promise<Ran>;
  /** Sits at a terminal and types this when asked. */
  readonly types: (text: string) => void;
  /** Writes a file into the folder. */
  readonly writes: (name: string, content: unknown) => void;
}

export async function person(token: string = TOKENS.write): Promise<Person> {
  const api = await fakeApi();
  const io = testIo({ H3_URL: api.url, H3_TOKEN: token });
  return {
    api,
    io,
    does: async (line) => {
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
