import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { BackOff } from "./back-off.ts";
import type { RunningProgram } from "./processes.ts";

export interface SupervisedProgram {
  /** As messages call it. */
  readonly name: string;
  /** Starts it, and returns when it is ready. @throws UserError */
  readonly start: () => Promise<RunningProgram>;
  /** Sentences about what happened. */
  readonly say: (sentence: string) => void;
}

export interface Supervision {
  /** Ends the program and what keeps it running. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Keeps a program running that runs already: it starts again whenever it ends by itself. */
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
          if (!(error instanceof UserError)) return;
          why = error.message;
        }
      }
      // It was asked to end while this one was on its way.
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
