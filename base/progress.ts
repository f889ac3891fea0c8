const WIDTH = 30;
/** Where the output is no terminal, a line as often as this, milliseconds. */
const LINE_EVERY_MS = 30_000;

export interface Progress {
  /** @param share of the work that is done, 0 to 1 */
  show(share: number, what: string): void;
  /** Leaves the last state standing. */
  end(): void;
}

/** Where it is shown: standard error. */
export type Screen = Pick<NodeJS.WritableStream, "write"> & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * Shows how much is done and how long the rest will take, on stderr.
 *
 * @param doneBefore the share that an earlier run had done: it took none of this run's time
 */
export function startProgress(
  doneBefore: number,
  nowMs: () => number = Date.now,
  screen: Screen = process.stderr,
): Progress {
  const beganMs = nowMs();
  const terminal = screen.isTTY === true;
  let printedMs = Number.NEGATIVE_INFINITY;
  return {
    show: (share, what) => {
      const line = progressLine(share, doneBefore, nowMs() - beganMs, what);
      if (terminal) screen.write(`\r${line.slice(0, (screen.columns ?? 80) - 1)}\u001B[K`);
      else if (nowMs() - printedMs >= LINE_EVERY_MS || share === 1) {
        screen.write(`${line}\n`);
        printedMs = nowMs();
      }
    },
    end: () => {
      if (terminal) screen.write("\n");
    },
  };
}

/** Where nobody watches a short piece of work. */

/** `[#####.....] 50 %  about 3 min left  200-2.5-12.5-cubic, 120 rows` */
export function progressLine(share: number, doneBefore: number, elapsedMs: number, what: string): string {
  const filled = Math.round(share * WIDTH);
  const bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
  const here = share - doneBefore;
  // The first loads of a run tell little of the others.
  const leftMs = here > 0.005 ? (elapsedMs * (1 - share)) / here : undefined;
  const left = share >= 1 ? "done" : leftMs === undefined ? "time left unknown yet" : `about ${duration(leftMs)} left`;
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${left}  ${what}`;
}

/** `45 s`, `12 min`, `2 h 5 min` */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
