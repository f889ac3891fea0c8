import type { Start } from "../run/starts.ts";

/** A start for tests of reports. */
export function exampleStart(): Start {
  return {
    at: "2026-01-01T00:00:00Z",
    lanes: 4,
    rowsBefore: 0,
    machine: {
      kernel: "6.0",
      arch: "x64",
      cpu: "a processor",
      cores: 2,
      memoryGiB: 8,
      go: "go1.26",
      quicGo: "v0.65.0",
      k6: "v1.8.1",
      workerd: "1",
      node: "v24",
      commit: "abc",
    },
  };
}
