import { buildEdge, buildProbe, buildWorker } from "../setup/build.ts";

/** Vitest's global set-up: what the systems under test are made of. */
export function setup(): void {
  buildWorker();
  buildEdge();
  buildProbe();
}
