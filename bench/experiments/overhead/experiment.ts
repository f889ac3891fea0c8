import { lastMachine } from "../../harness/machine-text.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { buildLoopback, measureRequests, requestOptions, roundsOf, shareMeasured } from "../../harness/requests.ts";
import { OVERHEAD_ARMS, type OverheadArm } from "../../lab/loopback-arms.ts";
import { CLIENTS, WARM_SECONDS } from "../../lab/loopback-clients.ts";
import { findNginx, nginxVersion } from "../../lab/nginx.ts";
import { SIZES } from "../../model/request-plan.ts";
import { measure } from "./measure.ts";
import { overheadPicture } from "./picture.ts";
import { overheadValues } from "./findings.ts";
import { OVERHEAD_ROW } from "./row.ts";
import { type Measurement, measurements, openRate } from "./schedule.ts";
import { summarizeOverhead } from "./summary.ts";

const DEFAULTS = { seconds: 2, quickSeconds: 0.5 };

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; and through nginx.
 */
export const experiment = defineExperiment({
  about: "what a request costs: the edge alone, with a worker that passes on, with this worker, and nginx (15 minutes)",
  options: requestOptions(DEFAULTS),
  row: OVERHEAD_ROW,
  question: (given) => {
    const { seed, seconds } = roundsOf(given, DEFAULTS);
    return { seed, seconds, warmSeconds: WARM_SECONDS, sizes: SIZES, clients: CLIENTS, arms: armsHere() };
  },
  done: (given, rows) => {
    const { rounds, seed } = roundsOf(given, DEFAULTS);
    return shareMeasured(measurements(armsHere(), rounds, seed), rows);
  },
  prepare: async () => {
    const nginx = findNginx();
    if (nginx === undefined) console.error("There is no nginx here and it cannot be installed: its arm is left out.");
    await buildLoopback();
    return { nginx: nginx === undefined ? null : nginxVersion(nginx) };
  },
  measure: async (run) => {
    const { rounds, seconds, seed } = roundsOf(run.options, DEFAULTS);
    const arms = armsHere();
    const runs = new Map<OverheadArm, number>();
    await measureRequests(run, {
      arms,
      nginx: findNginx(),
      warm: arms.map((arm): Measurement => ({ id: `warm/${arm}`, loop: "closed", size: "small", round: -1, arm })),
      all: measurements(arms, rounds, seed),
      measure: async (measurement, system, signal) => {
        const { loop, size, arm } = measurement;
        const earlier = runs.get(arm) ?? 0;
        runs.set(arm, earlier + 1);
        const rate = loop === "open" ? openRate(run.folder.rows, size) : 0;
        const row = await measure({ measurement, system, rate, seconds, run: earlier, signal });
        return row === undefined ? undefined : [row];
      },
    });
  },
  summarise: ({ options: given, rows, command, starts }) => {
    const options = roundsOf(given, DEFAULTS);
    const last = starts.at(-1);
    const arms = OVERHEAD_ARMS.filter((arm) => rows.some((row) => row.arm === arm));
    const ids = new Set(measurements(arms, options.rounds, options.seed).map(({ id }) => id));
    return summarizeOverhead({
      rows: rows.filter(({ id }) => ids.has(id)),
      arms,
      command,
      options,
      machine: { ...lastMachine(starts), nginx: last?.tools?.["nginx"] ?? null },
    });
  },
  report: (summary) => ({
    values: overheadValues(summary),
    pictures: [{ file: "overhead.svg", spec: overheadPicture(summary) }],
  }),
});

function armsHere(): readonly OverheadArm[] {
  return OVERHEAD_ARMS.filter((arm) => arm !== "nginx" || findNginx() !== undefined);
}
