import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { UserError } from "../../base/user-error.ts";

/** What the emulated path counted since it began, in packets. */
export interface PathCounters {
  readonly up: number;
  readonly down: number;
  /** Over 1 ms after they were due; NaN where the emulator cannot know. */
  readonly late: number;
  readonly droppedLoss: number;
  readonly droppedQueue: number;
}

interface Direction {
  readonly forwardedPackets: number;
  readonly latePackets: number | null;
  readonly droppedLoss: number;
  readonly droppedBurst: number;
  readonly droppedQueue: number;
}

/** Asks netpath's control socket. @throws UserError where netpath does not answer */
export async function readPath(control: string): Promise<PathCounters> {
  const socket = connect(control);
  try {
    await once(socket, "connect");
    socket.write('{"stats":true}\n');
    const [line] = (await once(createInterface({ input: socket }), "line")) as [string];
    return parsePath(line);
  } catch (error) {
    throw new UserError(`netpath did not say what it counted: ${(error as Error).message}`, { cause: error });
  } finally {
    socket.destroy();
  }
}

export function parsePath(line: string): PathCounters {
  const { stats } = JSON.parse(line) as { stats?: { aToB: Direction; bToA: Direction } };
  if (stats === undefined) throw new Error(`no counters in ${line}`);
  const { aToB: up, bToA: down } = stats;
  return {
    up: up.forwardedPackets,
    down: down.forwardedPackets,
    late: (up.latePackets ?? Number.NaN) + (down.latePackets ?? Number.NaN),
    droppedLoss: up.droppedLoss + up.droppedBurst + down.droppedLoss + down.droppedBurst,
    droppedQueue: up.droppedQueue + down.droppedQueue,
  };
}

/** What was counted between two readings. */
export function countedBetween(before: PathCounters, after: PathCounters): PathCounters {
  return {
    up: after.up - before.up,
    down: after.down - before.down,
    late: after.late - before.late,
    droppedLoss: after.droppedLoss - before.droppedLoss,
    droppedQueue: after.droppedQueue - before.droppedQueue,
  };
}
