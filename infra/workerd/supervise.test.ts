import { expect, it, vi } from "vitest";
import { UserError } from "../../base/user-error.ts";
import type { RunningProgram } from "./processes.ts";
import { supervise } from "./supervise.ts";

vi.mock("node:timers/promises", () => ({ setTimeout: async () => undefined }));

interface FakeProgram extends RunningProgram {
  end(why: string): void;
}

function fakeProgram(): FakeProgram {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { pid: 1, ended: promise, end: resolve, stop: async () => resolve("stopped") };
}

it.each([
  ["a fault for the user", new UserError("workerd did not start.")],
  ["an error that nobody expects", Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" })],
  ["a fault of its own code", new TypeError("x is not a function")],
])("after %s it goes on trying, says why, and ends by stop alone", async (_, error) => {
  const said: string[] = [];
  const first = fakeProgram();
  const last = fakeProgram();
  const started = Promise.withResolvers<void>();
  const start = vi
    .fn<() => Promise<RunningProgram>>()
    .mockRejectedValueOnce(error)
    .mockImplementationOnce(async () => {
      started.resolve();
      return last;
    });
  const supervision = supervise({ name: "It", start, say: (sentence) => said.push(sentence) }, first);
  first.end("exit code 1");
  await started.promise;
  expect(said).toEqual([
    "It ended by itself (exit code 1): it starts again.",
    `It ended by itself (${error.message}): it starts again in 0.25 s.`,
  ]);
  await supervision.stop();
  expect(start).toHaveBeenCalledTimes(2);
});
