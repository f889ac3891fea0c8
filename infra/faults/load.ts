import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { UserError } from "../../base/user-error.ts";
import { PEER_PROGRAM } from "../setup/build.ts";
import type { RequestRecord } from "./accounting.ts";

/** What the process is asked to do (infra/faults/peer/load.go). */
export type Order =
  /** Visitors come. `ca` is the PEM file of the certificate to trust. */
  | { do: "start"; site: string; ca: string; perSecond: number; seed: number }
  /** No more visitors come. */
  | { do: "stop" }
  /** The origin waits for so long before each answer. */
  | { do: "delay"; ms: number }
  /** So many percent of the requests ask the origin to lie. */
  | { do: "lies"; percent: number }
  | { do: "kill-origin" | "start-origin" };

/** The origin and the visitors, in a process of their own (infra/faults/peer). */
export interface Load {
  /** The origin's URL. */
  readonly origin: string;
  /** Resolves when it is done. After `stop` all requests are answered then. */
  order(order: Order): Promise<void>;
  /** Ends the process. */
  end(): Promise<void>;
}

/** Starts the load generator. @throws UserError */
export async function startLoad(onRecord: (record: RequestRecord) => void): Promise<Load> {
  const child: ChildProcess = spawn(PEER_PROGRAM, ["load"], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(child, "close");
  const origin = Promise.withResolvers<string>();
  const waiting: (() => void)[] = [];
  if (child.stdout === null || child.stdin === null) throw new UserError("The load generator could not be started.");
  const input = child.stdin;
  input.on("error", () => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const said = JSON.parse(line) as { origin?: string; done?: string } & RequestRecord;
    if (said.done !== undefined) waiting.shift()?.();
    else if (said.origin === undefined) onRecord(said);
    else origin.resolve(said.origin);
  });
  const died = ended.then(() => {
    throw new UserError("The load generator ended by itself.");
  });
  died.catch(() => undefined);
  return {
    origin: await Promise.race([origin.promise, died]),
    order: async (order) => {
      const done = new Promise<void>((resolve) => waiting.push(resolve));
      input.write(`${JSON.stringify(order)}\n`);
      await Promise.race([done, died]);
    },
    end: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
