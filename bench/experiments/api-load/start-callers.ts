import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { startProgram } from "../../../infra/workerd/processes.ts";
import type { CallersPlan, CallSamples } from "./mix.ts";

export interface Callers {
  readonly pid: number;
  /** Ends them; what every call met. @throws UserError where they ended by themselves */
  stop(): Promise<CallSamples>;
}

/** Starts callers.ts and returns when all are connected. @throws UserError */
export async function startCallers(plan: CallersPlan): Promise<Callers> {
  const ready = Promise.withResolvers<void>();
  const said: string[] = [];
  let samples: CallSamples | undefined;
  const program = startProgram(process.execPath, {
    args: [join(ROOT, "bench/experiments/api-load/callers.ts")],
    env: { PLAN: JSON.stringify(plan) },
    onLine: (line) => {
      if (line === "ready") ready.resolve();
      else samples = JSON.parse(line) as CallSamples;
    },
    onErrorLine: (line) => said.push(line),
  });
  const ended = program.ended.then((why) => {
    throw new UserError([`The callers of the API ended (${why}).`, ...said.slice(-10)].join("\n"));
  });
  // After they are ready nobody may be waiting for it.
  ended.catch(() => undefined);
  await Promise.race([ready.promise, ended]);
  return {
    pid: program.pid,
    stop: async () => {
      await program.stop();
      await program.ended;
      return samples ?? ended;
    },
  };
}
