/** A profile of V8, as its inspector gives it (Chrome DevTools Protocol, Profiler.Profile), as far as it is read here. */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string };
    readonly children?: readonly number[] | undefined;
  }[];
  /** The node of each sample. */
  readonly samples: readonly number[];
  /** Between one sample and the next, microseconds. */
  readonly timeDeltas: readonly number[];
}

/** What the worker does for a page, and the functions of it that do it, with all that they call. */
const STEPS = {
  "asks the origin": ["fetchOrigin"],
  "reads the request": ["isNavigation", "visitOf", "connectionFacts", "clientAddress"],
  "finds what is in force": ["findPolicy", "activeFor", "ready", "outdated", "renew"],
  "names the client by keyed hashes": ["named", "unit", "origin", "storedClient"],
  "finds what is known of the client": ["recall", "recallEarly", "pending", "find", "lookUp"],
  decides: ["advise", "decide"],
  "counts the page": ["countPage", "flushCounts"],
  "keeps what the page taught": ["remember", "report", "keptSample", "newAnswer"],
  "makes the response": ["conclude", "ask", "withToken"],
} as const;

export const OTHER = "everything else: workerd, its fetch, the runtime";
export const COLLECTOR = "collects garbage";
export const STEP_NAMES: readonly string[] = [...Object.keys(STEPS), COLLECTOR, OTHER];

const STEP_OF = new Map<string, string>(
  Object.entries(STEPS).flatMap(([step, names]) => names.map((name) => [name, step] as const)),
);
/** Its parts are steps. */
const IDLE = "(idle)";

/**
 * The share of the time in which it was not idle, by step. A sample belongs to the step of the innermost function that has one. Pure.
 *
 * @returns shares that add up to 1; undefined for a profile without a sample
 */
export function sharesOf({ nodes, samples, timeDeltas }: Profile): ReadonlyMap<string, number> | undefined {
  const stepOfNode = new Map<number, string>();
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const stepOf = (id: number): string => {
    const known = stepOfNode.get(id);
    if (known !== undefined) return known;
    const name = nodesById.get(id)?.callFrame.functionName ?? "";
    const parent = parents.get(id);
    const step =
      name === "(garbage collector)"
        ? COLLECTOR
        : (STEP_OF.get(name.replace(/^.*[.#]/, "")) ?? (parent === undefined ? OTHER : stepOf(parent)));
    stepOfNode.set(id, step);
    return step;
  };
  const times = new Map<string, number>();
  let total = 0;
  for (const [i, id] of samples.entries()) {
    if (nodesById.get(id)?.callFrame.functionName === IDLE) continue;
    // The time until the next sample is that of this one.
    const us = Math.max(0, timeDeltas[i + 1] ?? 0);
    total += us;
    times.set(stepOf(id), (times.get(stepOf(id)) ?? 0) + us);
  }
  if (total === 0) return undefined;
  return new Map(STEP_NAMES.map((step) => [step, (times.get(step) ?? 0) / total]));
}
