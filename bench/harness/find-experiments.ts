import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../base/root.ts";
import type { Check } from "./check.ts";
import type { Experiment } from "./experiment.ts";

const FOLDER = join(ROOT, "bench/experiments");

/** Every folder of bench/experiments, by its name: what its experiment.ts exports as `experiment`. */
export async function findExperiments(): Promise<ReadonlyMap<string, Experiment | Check>> {
  const names = readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  const modules = await Promise.all(
    names.map((name) => import(pathToFileURL(join(FOLDER, name, "experiment.ts")).href) as Promise<Module>),
  );
  return new Map(
    names.map((name, i) => {
      const experiment = modules[i]?.experiment;
      if (experiment === undefined) throw new Error(`bench/experiments/${name}/experiment.ts exports no experiment.`);
      return [name, experiment] as const;
    }),
  );
}

interface Module {
  readonly experiment?: Experiment | Check;
}
