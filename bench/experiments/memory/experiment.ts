import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { makeMissing, shareMade } from "../../harness/missing.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag } from "../../model/options.ts";
import { memoryPicture, memoryValues } from "./findings.ts";
import { type Crowd, measureCrowd, SETTINGS } from "./measure.ts";
import { MEMORY_ROW } from "./row.ts";
import { memorySummary, SEED } from "./summary.ts";

const USUAL = { clients: [1, 50, 100, 200], rounds: 5 };
const QUICK = { clients: [1, 20], rounds: 2 };

/** What connections over HTTP/2 and HTTP/3 take of the edge, the kernel and the clients. */
export const experiment = defineExperiment({
  options: { quick: flag("two small crowds: whether it works") },
  row: MEMORY_ROW,
  folderName: ({ quick }) => (quick ? "memory-quick" : undefined),
  question: ({ quick }) => ({ ...SETTINGS, ...(quick ? QUICK : USUAL) }),
  done: ({ quick }, rows) => shareMade(crowdsOf(quick), rows),
  prepare: async () => {
    await buildLab();
    return undefined;
  },
  measure: (run) =>
    makeMissing(crowdsOf(run.options.quick), run, async (crowd) => {
      const row = await measureCrowd(crowd, run.signal);
      return row && [row];
    }),
  summarise: (recorded) => memorySummary(recorded, (recorded.options.quick ? QUICK : USUAL).rounds),
  report: (summary) => ({
    values: memoryValues(summary),
    pictures: [{ file: "memory.svg", spec: memoryPicture(summary) }],
  }),
});

/** Every crowd once a round, in an order of its own. */
function crowdsOf(isQuick: boolean): Crowd[] {
  const { clients, rounds } = isQuick ? QUICK : USUAL;
  return Array.from({ length: rounds }, (_, round) =>
    shuffle(
      (["h2", "h3"] as const).flatMap((protocol) =>
        clients.map((count) => ({ id: `${protocol}/${count}/${round}`, protocol, clients: count, round })),
      ),
      seededRandom(SEED, "memory", String(round)),
    ),
  ).flat();
}
