import type { PathStats } from "./path.ts";

/** A direction of a path in which nothing was counted. */
export const NOTHING_COUNTED: PathStats["aToB"] = {
  forwardedPackets: 0,
  latePackets: 0,
  droppedQueue: 0,
  waitingBytes: 0,
  droppedDevice: 0,
  droppedMemory: 0,
  droppedWrite: 0,
};
