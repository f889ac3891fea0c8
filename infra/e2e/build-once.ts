import { buildEdge, buildPeer, buildPlain, buildWorker } from "../setup/build.ts";

/** Vitest's global set-up: builds the programs of the systems under test. */
export async function setup(): Promise<void> {
  await buildWorker();
  await buildEdge();
  await buildPeer();
  await buildPlain();
}
