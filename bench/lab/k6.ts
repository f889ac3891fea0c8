import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";
import type { LoadResult, Plan } from "../model/plan.ts";
import { startCoreWatch, WINDOW_MS } from "./cores.ts";
import { K6_PROGRAM } from "./programs.ts";

export interface K6Options {
  /** A script of bench/instrument/k6. */
  readonly script: "loads.ts" | "requests.ts";
  /** What the script reads from __ENV. */
  readonly env: Readonly<Record<string, string | number>>;
  /** The network namespace that it runs in; this process's own unless given. */
  readonly namespace?: string;
  readonly flags?: readonly string[];
  readonly signal: AbortSignal;
  readonly onLine?: (line: string) => void;
  /** Returns whether the line was understood; the others are the reason if k6 fails. */
  readonly onErrorLine?: (line: string) => boolean;
}

export interface RunningK6 extends RunningProgram {
  /** Throws where k6 did not end well, with what it said last; nothing where it was aborted. @throws UserError */
  assertEndedWell(about: string): Promise<void>;
}

/** Starts k6 with our extension; an abort kills it. Looks at no network, and prints nothing but the script's own lines. */
export function startK6({ script, env, namespace, flags = [], signal, onLine, onErrorLine }: K6Options): RunningK6 {
  const said: string[] = [];
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const command = [
    ...(namespace === undefined ? [] : ["ip", "netns", "exec", namespace]),
    K6_PROGRAM,
    "run",
    "--quiet",
    "--no-usage-report",
    ...flags,
    ...variables,
    join(ROOT, "bench/instrument/k6", script),
  ];
  const [program = "", ...args] = command;
  const k6 = startProgram(program, {
    args,
    env: { K6_AUTO_EXTENSION_RESOLUTION: "false" },
    onLine: (line) => (onLine === undefined ? said.push(line) : onLine(line)),
    onErrorLine: (line) => {
      if (onErrorLine?.(line) !== true) said.push(line);
    },
    graceMs: 2_000,
  });
  const stop = (): void => void k6.stop("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  void k6.ended.finally(() => signal.removeEventListener("abort", stop));
  return {
    ...k6,
    assertEndedWell: async (about) => {
      const why = await k6.ended;
      if (signal.aborted || why === "exit code 0") return;
      throw new UserError([`${about} (k6: ${why}).`, ...new Set(said.slice(-20))].join("\n"));
    },
  };
}

/**
 * Runs the loads of a plan one after another, by one k6 in a client's namespace. Each result is handed on as it comes, and
 * what becomes of it is waited for; where that fails k6 is stopped.
 *
 * @throws UserError where k6 fails, or ends before all loads were made
 */
export async function runPlan(options: {
  readonly plan: Plan;
  /** The plan's file, which k6 reads. */
  readonly file: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly onResult: (result: LoadResult) => Promise<void>;
}): Promise<void> {
  const { plan, file, namespace, signal } = options;
  writeFileSync(file, JSON.stringify(plan));
  const finished: Promise<void>[] = [];
  const cores = startCoreWatch();
  // k6 can end a short load sooner than that, of which the watch would know nothing.
  await wait(WINDOW_MS);
  const k6 = startK6({
    script: "loads.ts",
    env: { PLAN: file },
    namespace,
    signal,
    onLine: (line) => {
      if (!line.startsWith("{")) return;
      const load = JSON.parse(line) as Omit<LoadResult, "busyRatio">;
      // The watch counts whole milliseconds.
      const busyRatio = cores.busyRatio(load.startedMs, Math.floor(load.endedMs));
      const result = options.onResult({ ...load, busyRatio: Number.isNaN(busyRatio) ? null : busyRatio });
      finished.push(result);
      // The reason comes out where the results are waited for.
      result.catch(() => void k6.stop("SIGKILL"));
    },
  });
  await k6.ended.finally(() => cores.stop());
  await Promise.all(finished);
  await k6.assertEndedWell("Not all loads were made");
  if (!signal.aborted && finished.length < plan.loads.length)
    throw new UserError(`k6 made ${finished.length} of ${plan.loads.length} loads.`);
}
