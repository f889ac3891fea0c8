import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokenEntry } from "../../policy-api/api/tokens.ts";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { untilListens } from "./listening.ts";
import { type RunningProgram, startProgram } from "./processes.ts";
import { setAsideBroken } from "./set-aside.ts";
import { supervise, type Supervision } from "./supervise.ts";
import { watchHeartbeat } from "./watch-heartbeat.ts";

export interface WorkerdOptions {
  /** The folder of all state. The objects and the marker of their store get a folder each in it. */
  readonly stateDir: string;
  /** The origin's URL. */
  readonly origin: string;
  /** A token for the worker's API with scope `write`. Its name in the audit is `local`. */
  readonly token?: string;
  /** Further entries of POLICY_TOKENS. */
  readonly tokens?: string | undefined;
  /** Further variables of the worker. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Another configuration file, with the same sockets and the same disks. */
  readonly config?: string;
  /** A program and its arguments that run workerd: workerd's own command line comes after them. */
  readonly runner?: readonly [string, ...string[]];
  /** If set, workerd starts again when it ends, and this takes a sentence about it. If not, `failed` resolves. */
  readonly onRestart?: ((sentence: string) => void) | undefined;
  /** Takes each line of workerd's output. */
  readonly onWorkerLine?: (line: string) => void;
  readonly onErrorLine?: (line: string) => void;
}

/** A running workerd with its two Unix sockets. */
export interface Workerd {
  readonly visitorsSocket: string;
  readonly samplesSocket: string;
  /** The id of the current process. */
  pid(): number;
  /** Resolves with the reason when workerd ends by itself and `onRestart` is not set. */
  readonly failed: Promise<string>;
  /** Kills workerd as a power cut would, runs `meanwhile`, and starts workerd again. */
  crash(meanwhile?: () => void): Promise<void>;
  stop(): Promise<void>;
}

/** Starts workerd and returns when it accepts connections. @throws UserError */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const objectsDir = madeFolder(join(options.stateDir, "objects"));
  const markerDir = madeFolder(join(options.stateDir, "marker"));
  // Only this user can enter this folder: whoever reaches the socket controls request.cf. The path is short, because the
  // path of a Unix socket may have at most 107 bytes.
  const socketsDir = mkdtempSync(join(tmpdir(), "h3-"));
  const visitorsSocket = join(socketsDir, "visitors");
  const samplesSocket = join(socketsDir, "samples");
  const onErrorLine = options.onErrorLine ?? ((line: string): void => console.error(line));
  const failure = Promise.withResolvers<string>();
  /** The program that should run now. Undefined while none should. */
  let running: RunningProgram | undefined;
  let supervision: Supervision | undefined;

  const launch = async (): Promise<RunningProgram> => {
    // A killed workerd leaves its sockets behind, and the next one could not bind to them.
    for (const socket of [visitorsSocket, samplesSocket]) rmSync(socket, { force: true });
    setAsideBroken(objectsDir, markerDir, onErrorLine);
    const [file, ...before] = [...(options.runner ?? []), workerdProgram()] as [string, ...string[]];
    const program = startProgram(file, {
      args: [
        ...before,
        "serve",
        options.config ?? join(ROOT, "infra/workerd/config.capnp"),
        "--socket-addr",
        `visitors=unix:${visitorsSocket}`,
        "--socket-addr",
        `samples=unix:${samplesSocket}`,
        "--directory-path",
        `state=${objectsDir}`,
        "--directory-path",
        `marker=${markerDir}`,
      ],
      env: {
        ORIGIN: options.origin,
        POLICY_TOKENS: [await localEntry(options.token), options.tokens ?? ""].join(" "),
        API_ORIGINS: "",
        BUDGET_MS: "",
        OBJECTS_PER_REGION: "",
        LOG_DECISIONS: "",
        TELL_DECISIONS: "",
        ...options.variables,
      },
      onLine: options.onWorkerLine ?? (() => undefined),
      onErrorLine,
      // workerd has nothing to finish: all that it acknowledged is on disk.
      graceMs: 3_000,
    });
    try {
      // workerd binds within milliseconds and prints nothing about it.
      const ended = program.ended.then((why) => {
        throw new UserError(`workerd did not start (${why}).`);
      });
      const ready = untilListens("workerd", visitorsSocket).then(() => untilListens("workerd", samplesSocket));
      await Promise.race([ready, ended]);
    } catch (error) {
      await program.stop("SIGKILL");
      throw error;
    }
    running = program;
    return program;
  };
  const begin = async (): Promise<void> => {
    const program = await launch();
    const { onRestart } = options;
    if (onRestart === undefined) {
      void program.ended.then((why) =>
        running === program ? failure.resolve(`workerd ended by itself (${why}).`) : undefined,
      );
      return;
    }
    supervision = supervise({ name: "workerd", start: launch, say: onRestart }, program);
  };
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    const program = running;
    running = undefined;
    await (supervision ?? program)?.stop(signal);
    supervision = undefined;
  };
  const watching =
    options.onRestart === undefined
      ? undefined
      : watchHeartbeat(samplesSocket, (sentence) => {
          options.onRestart?.(sentence);
          void running?.stop("SIGKILL");
        });
  const stop = async (): Promise<void> => {
    watching?.stop();
    await end();
    rmSync(socketsDir, { recursive: true, force: true });
  };

  try {
    await begin();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    visitorsSocket,
    samplesSocket,
    pid: () => running?.pid ?? 0,
    failed: failure.promise,
    crash: async (meanwhile) => {
      await end("SIGKILL");
      meanwhile?.();
      await begin();
    },
    stop,
  };
}

/** @throws UserError */
function madeFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UserError(`Cannot write the folder ${folder}: ${(error as Error).message}.`);
  }
  return folder;
}

async function localEntry(token: string | undefined): Promise<string> {
  return token === undefined ? "" : tokenEntry("local", "autopilot", token);
}

/** The path of workerd itself. The package's bin is a script that starts workerd and does not end it. */
function workerdProgram(): string {
  return (createRequire(import.meta.url)("workerd") as { default: string }).default;
}
