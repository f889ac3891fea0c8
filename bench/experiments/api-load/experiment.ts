import { defineExperiment } from "../../harness/experiment.ts";
import { lastMachine } from "../../harness/machine-text.ts";
import { buildLoopback, measureRequests, requestOptions, roundsOf, shareMeasured } from "../../harness/requests.ts";
import { activatePolicy } from "../../../infra/workerd/policy-client.ts";
import { offeringPolicy } from "../../lab/loopback-arms.ts";
import { WARM_SECONDS } from "../../lab/loopback-clients.ts";
import { TOKEN } from "../../lab/loopback-system.ts";
import { apiLoadValues } from "./findings.ts";
import { measure } from "./measure.ts";
import { CALLER_SETUPS, CALLERS } from "./mix.ts";
import { API_LOAD_ROW } from "./row.ts";
import { type Measurement, measurements, openRate } from "./schedule.ts";
import { summarizeApiLoad } from "./summary.ts";

const DEFAULTS = { seconds: 5, quickSeconds: 1 };
const WARM = ["pages", "pass", "decide-1", "decide-100"] as const;

/** What calls of the API cost the visitors of the same worker, and what decisions cost their callers. */
export const experiment = defineExperiment({
  about: "what calls of the policy's API cost visitors of the same worker, and what decisions cost (12 minutes)",
  options: requestOptions(DEFAULTS),
  row: API_LOAD_ROW,
  question: (given) => {
    const { seed, seconds } = roundsOf(given, DEFAULTS);
    const callers = Object.fromEntries(CALLERS.map((caller) => [caller, CALLER_SETUPS[caller].rate]));
    return { seed, seconds, warmSeconds: WARM_SECONDS, callers };
  },
  done: (given, rows) => {
    const { rounds, seed } = roundsOf(given, DEFAULTS);
    return shareMeasured(measurements(rounds, seed), rows);
  },
  prepare: async () => {
    await buildLoopback();
    return undefined;
  },
  measure: async (run) => {
    const { rounds, seconds, seed } = roundsOf(run.options, DEFAULTS);
    let runs = 0;
    let versions: Promise<number[]> | undefined;
    await measureRequests(run, {
      arms: ["adaptive"],
      nginx: undefined,
      warm: WARM.map((subject): Measurement => ({ id: `warm/${subject}`, loop: "closed", subject, round: -1 })),
      all: measurements(rounds, seed),
      measure: async (measurement, system, signal) => {
        versions ??= activateTwice(system.arms.get("adaptive")?.visitorsSocket ?? "");
        const { loop, subject } = measurement;
        const rate = loop === "open" ? openRate(run.folder.rows, subject) : 0;
        return measure({ measurement, system, versions: await versions, rate, seconds, run: runs++, signal });
      },
    });
  },
  summarise: ({ options: given, rows, command, starts }) => {
    const options = roundsOf(given, DEFAULTS);
    return summarizeApiLoad({
      rows: rows.filter(({ round }) => round < options.rounds),
      command,
      options,
      machine: lastMachine(starts),
    });
  },
  report: (summary) => ({ values: apiLoadValues(summary) }),
});

/** Two versions that offer the same to everybody, for activations that change something and disturb no visitor. */
async function activateTwice(socket: string): Promise<number[]> {
  const versions: number[] = [];
  for (const source of ["one", "the other"])
    versions.push(await activatePolicy(socket, TOKEN, { ...offeringPolicy(), source }));
  return versions;
}
