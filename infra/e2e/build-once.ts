import { buildEdge, buildForge, buildPlain, buildProbe, buildResting, buildWorker } from "../setup/build.ts";

/** Vitest's global set-up: builds the programs of the systems under test. */
export async function setup(): Promise<void> {
  await buildWorker();
  await buildEdge();
  await buildProbe();
  await buildForge();
  await buildResting();
  await buildPlain();
}
