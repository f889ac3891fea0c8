import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { UserError } from "../../base/user-error.ts";
import { PEER_PROGRAM } from "../setup/build.ts";
import type { RequestRecord } from "./accounting.ts";
import type { HostileSummary } from "./hostile-judge.ts";

export interface LoadStart {
  readonly site: string;
  /** The PEM file of the certificate to trust. */
  readonly ca: string;
  readonly perSecond: number;
  /** How many addresses the visitors have. 0: the system's choice. */
  readonly addresses: number;
  readonly seed: number;
}

export interface HostileStart extends Omit<LoadStart, "perSecond" | "addresses"> {
  readonly from: number;
  readonly count: number;
}

/** The origin and the visitors, in a process of their own (infra/faults/peer). */
export interface Load {
  /** The origin's URL. */
  readonly origin: string;
  start(options: LoadStart): Promise<void>;
  /** Sends no more requests, and resolves when all are answered. */
  stop(): Promise<void>;
  /** The origin waits for so long before each answer. */
  delay(ms: number): Promise<void>;
  /** So many percent of the requests ask the origin to lie. */
  lies(percent: number): Promise<void>;
  /** Sends hostile inputs, and says what came of them. `onSent` is told how many are sent. */
  hostile(options: HostileStart, onSent: (sent: number) => void): Promise<HostileSummary>;
  /** Sends reports of pages once more that counted when hostile inputs had them first. Resolves to how many. */
  replay(): Promise<number>;
  killOrigin(): Promise<void>;
  startOrigin(): Promise<void>;
  /** Ends the process. */
  end(): Promise<void>;
}

/** A line of the load generator's output, if it is no record of a request. */
interface Said {
  readonly origin?: string;
  readonly done?: string;
  readonly sent?: number;
  readonly hostile?: HostileSummary;
  readonly replayed?: number;
}

/** Starts the load generator. @throws UserError */
export async function startLoad(onRecord: (record: RequestRecord) => void): Promise<Load> {
  const child: ChildProcess = spawn(PEER_PROGRAM, ["load"], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(child, "close");
  const origin = Promise.withResolvers<string>();
  const waiting: (() => void)[] = [];
  let onSent: (sent: number) => void = () => undefined;
  let summary: HostileSummary | undefined;
  let replayed = 0;
  if (child.stdout === null || child.stdin === null) throw new UserError("The load generator could not be started.");
  const input = child.stdin;
  input.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as Said & RequestRecord;
    if (said.done !== undefined) waiting.shift()?.();
    else if (said.sent !== undefined) onSent(said.sent);
    else if (said.hostile !== undefined) summary = said.hostile;
    else if (said.replayed !== undefined) replayed = said.replayed;
    else if (said.origin === undefined) onRecord(said);
    else origin.resolve(said.origin);
  });
  const died = ended.then(() => {
    throw new UserError("The load generator ended by itself.");
  });
  died.catch(() => undefined);
  const order = async (command: object): Promise<void> => {
    const done = new Promise<void>((resolve) => waiting.push(resolve));
    input.write(`${JSON.stringify(command)}\n`);
    await Promise.race([done, died]);
  };
  return {
    origin: await Promise.race([origin.promise, died]),
    start: (options) => order({ do: "start", ...options }),
    stop: () => order({ do: "stop" }),
    delay: (ms) => order({ do: "delay", ms }),
    lies: (percent) => order({ do: "lies", percent }),
    hostile: async (options, told) => {
      onSent = told;
      await order({ do: "hostile", ...options });
      if (summary === undefined) throw new UserError("The load generator says nothing of the hostile inputs.");
      return summary;
    },
    replay: async () => {
      await order({ do: "replay" });
      return replayed;
    },
    killOrigin: () => order({ do: "kill-origin" }),
    startOrigin: () => order({ do: "start-origin" }),
    end: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
