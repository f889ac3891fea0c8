import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { makeMissing, shareMade } from "../../harness/missing.ts";
import { LINUX_TCP_BUFFERS } from "../../lab/namespace.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag } from "../../model/options.ts";
import { memoryPicture, memoryValues } from "./findings.ts";
import { type Crowd, type CrowdSettings, measureCrowd } from "./measure.ts";
import { MEMORY_ROW } from "./row.ts";
import { memorySummary } from "./summary.ts";

const SETTINGS: CrowdSettings = {
  bytes: 1_000_000,
  rateMbps: 100,
  delayMs: 25,
  queueBytes: 1_500_000,
  // As operators have them: with the bench's own each socket begins with room for 128 kB.
  tcpBuffers: LINUX_TCP_BUFFERS,
};
const USUAL = { clients: [1, 50, 100, 200], rounds: 5 };
const QUICK = { clients: [1, 20], rounds: 2 };
const SEED = 1;

/** What connections over HTTP/2 and HTTP/3 take of the edge, the kernel and the clients. */
export const experiment = defineExperiment({
  about: "what connections take of the edge, the kernel and the clients, over both protocols (10 minutes)",
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
      const row = await measureCrowd(crowd, SETTINGS, run.signal);
      return row && [row];
    }),
  summarise: ({ options: { quick }, rows, command, starts }) => {
    const { rounds } = quick ? QUICK : USUAL;
    return { command, starts, rounds, ...SETTINGS, ...memorySummary(rows, SEED) };
  },
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
