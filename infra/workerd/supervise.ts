import { setTimeout as pause } from "node:timers/promises";
import { BackOff } from "./back-off.ts";
import type { RunningProgram } from "./processes.ts";

export interface SupervisedProgram {
  /** The program's name in messages. */
  readonly name: string;
  /** Starts the program and returns when it is ready. @throws UserError */
  readonly start: () => Promise<RunningProgram>;
  /** Takes a sentence about what happened, for the user. */
  readonly say: (sentence: string) => void;
}

export interface Supervision {
  /** Ends the program and its supervision. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Keeps a running program running: whenever it ends by itself, this starts it again. */
export function supervise({ name, start, say }: SupervisedProgram, running: RunningProgram): Supervision {
  const backOff = new BackOff();
  const stopping = new AbortController();
  let current = running;

  const keep = async (): Promise<void> => {
    backOff.started(Date.now());
    for (;;) {
      let why = await current.ended;
      for (;;) {
        if (stopping.signal.aborted) return;
        const pauseMs = backOff.pauseMs(Date.now());
        say(`${name} ended by itself (${why}): it starts again${pauseMs === 0 ? "" : ` in ${pauseMs / 1000} s`}.`);
        try {
          await pause(pauseMs, undefined, { signal: stopping.signal });
          current = await start();
          backOff.started(Date.now());
          break;
        } catch (error) {
          // Of any kind: only stop() ends the supervision, which the loop finds out.
          why = (error as Error).message;
        }
      }
      // stop() was called while the program was starting.
      if (stopping.signal.aborted) {
        await current.stop();
        return;
      }
    }
  };
  const kept = keep();
  return {
    stop: async (signal) => {
      stopping.abort();
      await current.stop(signal);
      await kept;
    },
  };
}
