import type { Machine } from "./recorded-run.ts";

/** A machine for tests. */
export const EXAMPLE_MACHINE: Machine = {
  kernel: "6",
  arch: "x64",
  cpu: "a CPU",
  cores: 2,
  memoryGiB: 8,
  go: "go1.26",
  quicGo: "v0",
  k6: "v1",
  workerd: "1",
  node: "v24",
  commit: "abc",
};
