/** The names of the faults, in the order in which they are injected. */
export const FAULT_NAMES = [
  "nothing",
  "workerd-killed",
  "workerd-stopped",
  "edge-killed",
  "edge-stopped",
  "disk-full",
  "store-corrupt",
  "origin-slow",
  "origin-dead",
  "origin-lying",
  "clock-ahead",
  "clock-behind",
  "udp-blocked",
  "udp-destroyed",
  "memory-short",
  "descriptors-short",
] as const;
export type FaultName = (typeof FAULT_NAMES)[number];
