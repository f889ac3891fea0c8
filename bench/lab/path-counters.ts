/** What the emulated path counted since it began, in packets. */
export interface PathCounters {
  readonly up: number;
  readonly down: number;
  /** Over 1 ms after they were due. */
  readonly late: number;
  readonly droppedLoss: number;
  readonly droppedQueue: number;
}

/** As netpath tells of them. */
export interface PathStats {
  readonly aToB: DirectionStats;
  readonly bToA: DirectionStats;
}

interface DirectionStats {
  readonly forwardedPackets: number;
  readonly latePackets: number;
  readonly droppedLoss: number;
  readonly droppedQueue: number;
  /** By netpath's own fault. */
  readonly droppedDevice: number;
  readonly droppedMemory: number;
  readonly droppedWrite: number;
}

export function countersOf({ aToB: up, bToA: down }: PathStats): PathCounters {
  return {
    up: up.forwardedPackets,
    down: down.forwardedPackets,
    late: up.latePackets + down.latePackets,
    droppedLoss: up.droppedLoss + down.droppedLoss,
    droppedQueue: up.droppedQueue + down.droppedQueue,
  };
}

/** Packets that netpath lost by its own fault: it was too slow, or its memory full. */
export function faultsOf({ aToB, bToA }: PathStats): { readonly aToB: number; readonly bToA: number } {
  const sum = ({ droppedDevice, droppedMemory, droppedWrite }: DirectionStats): number =>
    droppedDevice + droppedMemory + droppedWrite;
  return { aToB: sum(aToB), bToA: sum(bToA) };
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
