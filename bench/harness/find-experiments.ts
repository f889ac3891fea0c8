import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../base/root.ts";
import type { Check, Experiment } from "./experiment.ts";

/** Every folder of bench/experiments, by its name: what its experiment.ts exports as `experiment`. */
export async function findExperiments(): Promise<ReadonlyMap<string, Experiment | Check>> {
  const folder = join(ROOT, "bench/experiments");
  const found = new Map<string, Experiment | Check>();
  for (const name of readdirSync(folder).toSorted()) {
    const file = pathToFileURL(join(folder, name, "experiment.ts")).href;
    const { experiment } = (await import(file)) as { experiment?: Experiment | Check };
    if (experiment === undefined) throw new Error(`bench/experiments/${name}/experiment.ts exports no experiment.`);
    found.set(name, experiment);
  }
  return found;
}
