import { createServer } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { ProgramOptions, RunningProgram } from "./processes.ts";
import { startWorkerd } from "./workerd.ts";

const seen = vi.hoisted(() => {
  const silent: (sentence: string) => void = () => undefined;
  return { silent, signals: [] as unknown[] };
});

vi.mock("./watch-heartbeat.ts", () => ({
  watchHeartbeat: (_: string, onSilent: (sentence: string) => void) => {
    seen.silent = onSilent;
    return { stop: () => undefined };
  },
}));

// In workerd's place: its sockets, and the number of a process that has ended (beyond the kernel's largest).
vi.mock("./processes.ts", () => ({
  startProgram: (_: string, { args }: ProgramOptions): RunningProgram => {
    const sockets = args.flatMap((arg) => /^(?:visitors|samples)=unix:(.*)/.exec(arg)?.[1] ?? []);
    const ended = Promise.withResolvers<string>();
    const servers = sockets.map((path) => createServer().listen(path));
    return {
      pid: 4_194_305,
      ended: ended.promise,
      stop: async (signal) => {
        seen.signals.push(signal);
        for (const server of servers) server.close();
        if (signal === undefined) ended.resolve("stopped");
      },
    };
  },
}));

it("a workerd that is silent because it has just ended is no error", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "h3-test-"));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const said: string[] = [];
  const workerd = await startWorkerd({
    stateDir,
    origin: "http://127.0.0.1:1",
    onRestart: (sentence) => said.push(sentence),
  });
  // In a timer, an error here would end the whole program.
  expect(() => seen.silent("It is silent.")).not.toThrow();
  expect([said, seen.signals]).toEqual([["It is silent."], ["SIGKILL"]]);
  await workerd.stop();
});
