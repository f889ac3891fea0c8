/** What the emulated path counted since it began, in packets. */
export interface PathCounters {
  readonly up: number;
  readonly down: number;
  /** Over 1 ms after they were due. */
  readonly late: number;
  readonly droppedLoss: number;
  readonly droppedQueue: number;
}

interface Direction {
  readonly forwardedPackets: number;
  readonly latePackets: number;
  readonly droppedLoss: number;
  readonly droppedBurst: number;
  readonly droppedQueue: number;
  /** By netpath's own fault. */
  readonly droppedDevice: number;
  readonly droppedMemory: number;
  readonly droppedWrite: number;
}

/** The counters of an answer of netpath. @throws Error where it has none */
export function parsePath(line: string): PathCounters {
  const { aToB: up, bToA: down } = statsIn(line);
  return {
    up: up.forwardedPackets,
    down: down.forwardedPackets,
    late: up.latePackets + down.latePackets,
    droppedLoss: up.droppedLoss + up.droppedBurst + down.droppedLoss + down.droppedBurst,
    droppedQueue: up.droppedQueue + down.droppedQueue,
  };
}

/** Packets that netpath lost by its own fault. */
export function faultsIn(line: string): { aToB: number; bToA: number } {
  const { aToB, bToA } = statsIn(line);
  const sum = ({ droppedDevice, droppedMemory, droppedWrite }: Direction): number =>
    droppedDevice + droppedMemory + droppedWrite;
  return { aToB: sum(aToB), bToA: sum(bToA) };
}

function statsIn(line: string): { readonly aToB: Direction; readonly bToA: Direction } {
  const { stats } = JSON.parse(line) as { stats?: { aToB: Direction; bToA: Direction } };
  if (stats === undefined) throw new Error(`no counters in ${line}`);
  return stats;
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
