import { buildEdge, buildProbe, buildWorker } from "../setup/build.ts";

/** Vitest's global set-up: what the systems under test are made of. */
export async function setup(): Promise<void> {
  await buildWorker();
  await buildEdge();
  await buildProbe();
}
