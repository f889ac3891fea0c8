import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { UserError } from "../../../base/user-error.ts";
import { freePort } from "../../../infra/workerd/listening.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { unlessItFails } from "../../harness/in-lab.ts";
import { makeMissing, shareMade } from "../../harness/missing.ts";
import { buildLoopback, LOOPBACK_ARMS, startLoopbackSystem } from "../../lab/loopback-system.ts";
import { runRequests } from "../../lab/request-load.ts";
import { flag, type OptionsOf, wholeNumber } from "../../model/options.ts";
import { startProfile } from "./profiler.ts";
import {
  ARMS,
  PROFILE_ROW,
  type ProfiledArm,
  profileReport,
  type ProfileRow,
  profileSummary,
  SEED,
  SETTINGS,
} from "./report.ts";
import { sharesOf, STEP_NAMES } from "./steps.ts";

const OPTIONS = {
  rounds: wholeNumber("how often each arm is measured (7)", [1, 100], undefined),
  quick: flag("one round of a second: whether it works"),
};

interface Measurement {
  readonly id: string;
  readonly lastId: string;
  readonly arm: ProfiledArm;
  readonly round: number;
}

const rowId = (id: string, step: number): string => `${id}/${step}`;

function plan({ rounds, quick }: OptionsOf<typeof OPTIONS>): Measurement[] {
  return Array.from({ length: rounds ?? (quick ? 1 : 7) }, (_, round) =>
    shuffle(ARMS, seededRandom(SEED, "page-profile", round)).map((arm) => {
      const id = `${arm}/${round}`;
      return { id, lastId: rowId(id, STEP_NAMES.length - 1), arm, round };
    }),
  ).flat();
}

/** What workerd's processor time for a page goes into, of pages that are decided and of pages that are not. */
export const experiment = defineExperiment({
  options: OPTIONS,
  row: PROFILE_ROW,
  question: ({ quick }) => ({ ...SETTINGS, seconds: quick ? 1 : SETTINGS.seconds, steps: STEP_NAMES, seed: SEED }),
  done: (given, rows) => shareMade(plan(given), rows),
  prepare: async () => {
    await buildLoopback();
    return {};
  },
  measure: (run) =>
    makeMissing(plan(run.options), run, (measurement) =>
      profile(measurement, run.options.quick ? 1 : SETTINGS.seconds, run.signal),
    ),
  summarise: profileSummary,
  report: profileReport,
});

/** Undefined where it was interrupted. @throws UserError where a program fails */
async function profile(
  { id, arm, round }: Measurement,
  seconds: number,
  aborted: AbortSignal,
): Promise<ProfileRow[] | undefined> {
  const port = await freePort();
  // workerd's own command line stands before it.
  const inspected = ["sh", "-c", `exec "$@" --inspector-addr=127.0.0.1:${port}`, "sh"] as const;
  // The edge's certificate is the first arm's.
  const system = await startLoopbackSystem([arm], inspected);
  const startedMs = Date.now();
  let rows: ProfileRow[] | undefined;
  try {
    await unlessItFails(system.failed, aborted, async (signal) => {
      const processes = system.arms.get(arm);
      if (processes === undefined) throw new Error(`${arm} does not run.`);
      const { secFetchDest, offers } = LOOPBACK_ARMS[arm];
      const load = async (run: number) =>
        runRequests({
          name: id,
          plan: {
            url: `${processes.url}/image/${SETTINGS.bytes}`,
            headers: { "Sec-Fetch-Dest": secFetchDest },
            offers,
            bodyBytes: SETTINGS.bytes,
            loop: "open",
            clients: SETTINGS.clients,
            rate: SETTINGS.pagesPerSecond,
            warmSeconds: SETTINGS.warmSeconds,
            seconds,
          },
          run,
          ...processes,
          originPid: system.originPid,
          signal,
        });
      // One that does not count makes code and caches warm.
      if ((await load(0)) === undefined) return;
      const end = await startProfile(port);
      const counted = await load(1);
      const shares = sharesOf(await end());
      if (counted === undefined) return;
      if (shares === undefined || counted.workerdCpuUs === null)
        throw new UserError(`${id}: workerd's profile has no sample.`);
      const { workerdCpuUs } = counted;
      rows = STEP_NAMES.map((step, i) => {
        const share = shares.get(step) ?? 0;
        return { id: rowId(id, i), arm, round, step, startedMs, share, us: share * workerdCpuUs };
      });
    });
  } finally {
    await system.stop();
  }
  return rows;
}
