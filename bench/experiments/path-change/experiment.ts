import type { Policy } from "../../../policy-api/core/policy.ts";
import { defineExperiment, type Run } from "../../harness/experiment.ts";
import { SampleBook } from "../../harness/loads/sample-book.ts";
import { lastDay, lastMachine } from "../../harness/machine-text.ts";
import { unlessItFails } from "../../harness/unless-it-fails.ts";
import { policyOf } from "../../lab/arm-policy.ts";
import { startLab } from "../../lab/lab.ts";
import type { Lane } from "../../lab/lane.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, type OptionsOf, someOf, wholeNumber } from "../../model/options.ts";
import { findingOf, withSettled } from "./findings.ts";
import { dependsOnAnswerBefore } from "./margin.ts";
import { type Navigation, NAVIGATION_ROW, navigationId, type NavigationRow } from "./row.ts";
import { runStretch, type StretchOptions } from "./run-stretch.ts";
import {
  ALL_STRETCHES,
  APART_MS,
  CONTROL,
  MEASURED_CONGESTIONS,
  NAVIGATIONS,
  SCENARIOS,
  type Stretch,
  STRETCHES,
  TIMEOUT_MS,
} from "./scenarios.ts";
import { pathChangeValues, summaryLines } from "./tables.ts";

const SCENARIO_NAMES = SCENARIOS.map(({ name }) => name);

export const OPTIONS = {
  scenarios: someOf(`some only, with commas: ${SCENARIO_NAMES.join(", ")}`, SCENARIO_NAMES, SCENARIO_NAMES, "be of"),
  congestion: someOf(
    `of the server's TCP, with commas: ${MEASURED_CONGESTIONS.join(", ")}`,
    MEASURED_CONGESTIONS,
    MEASURED_CONGESTIONS,
    "be of",
  ),
  clients: wholeNumber("of each scenario and congestion control, one after the other (5)", [1, 100], 5),
  seed: wholeNumber("what losses are drawn from (1)", [0, 2 ** 31 - 1], 1),
  quick: flag("one client of the first scenario and congestion control: whether it works"),
};

/** How fast the adaptive arm follows a path that changes while a client is visiting. */
export const experiment = defineExperiment({
  about: "how fast the adaptive arm follows a path that changes (half an hour)",
  options: OPTIONS,
  row: NAVIGATION_ROW,
  question: (given) => {
    const { scenarios, congestions, clients } = choose(given);
    const settings = { navigations: NAVIGATIONS, apartMs: APART_MS, timeoutMs: TIMEOUT_MS };
    return { seed: given.seed, clients, congestions, scenarios, ...settings };
  },
  done: (given, rows) => 1 - missingClients(given, rows).length / clientsOf(given).length,
  prepare: async () => {
    await buildLab();
    return undefined;
  },
  measure: async (run) => {
    const lab = await startLab({ arms: ["adaptive"], lanes: 1 });
    const samples = new SampleBook();
    lab.onSample((sample) => samples.add(sample));
    const [lane] = lab.lanes;
    if (lane === undefined) throw new Error("A lab has a lane.");
    const { seed } = run.options;
    const { onRow } = rowsOf(run);
    try {
      await unlessItFails(lab.failed, run.signal, async (signal) => {
        for (const client of missingClients(run.options, run.folder.rows))
          await visit(client, { lane, folder: lab.folder, samples, seed, signal, onRow });
      });
    } finally {
      await lab.stop();
    }
  },
  summarise: ({ options: given, rows: all, command, starts }) => {
    const { scenarios, congestions, clients } = choose(given);
    const rows = lastOfEach(all);
    const findings = scenarios.flatMap(({ name }) =>
      congestions.map((congestion) =>
        findingOf(
          name,
          congestion,
          rows.filter((row) => row.scenario === name && row.congestion === congestion),
          (row) => dependsOnAnswerBefore(policyOf("adaptive", congestion, "quic-go") as Policy, row),
        ),
      ),
    );
    const machine = lastMachine(starts);
    return { command, day: lastDay(rows), seed: given.seed, clients, scenarios, machine, findings };
  },
  settled: (rows, { findings }) => withSettled(lastOfEach(rows), findings),
  report: (summary) => ({ values: pathChangeValues(summary) }),
  lines: ({ findings }) => summaryLines(findings),
});

type Given = OptionsOf<typeof OPTIONS>;
type Client = Omit<Navigation, "stretch" | "number">;

/** What is measured. `--quick` is one client of the first scenario and congestion control that are asked for. */
export function choose({ scenarios: names, congestion, clients, quick }: Given) {
  const scenarios = SCENARIOS.filter(({ name }) => names.includes(name));
  const congestions = MEASURED_CONGESTIONS.filter((name) => congestion.includes(name));
  return quick
    ? { scenarios: scenarios.slice(0, 1), congestions: congestions.slice(0, 1), clients: 1 }
    : { scenarios, congestions, clients };
}

function clientsOf(given: Given): Client[] {
  const { scenarios, congestions, clients } = choose(given);
  return scenarios.flatMap((scenario) =>
    congestions.flatMap((congestion) =>
      Array.from({ length: clients }, (_, i): Client => ({ scenario, congestion, client: i + 1 })),
    ),
  );
}

/** A client whose visit was cut short makes all of it again, from a new address. */
function missingClients(given: Given, rows: readonly NavigationRow[]): Client[] {
  const made = new Set(rows.map(({ id }) => id));
  return clientsOf(given).filter((client) =>
    ALL_STRETCHES.some((stretch) => !made.has(navigationId({ ...client, stretch, number: NAVIGATIONS[stretch] }))),
  );
}

/** Of a visit that was cut short and made again the last counts. */
function lastOfEach(rows: readonly NavigationRow[]): NavigationRow[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

function rowsOf({ options, folder, progress }: Run<Given, NavigationRow>): Pick<StretchOptions, "onRow"> {
  const perClient = ALL_STRETCHES.reduce((sum, stretch) => sum + NAVIGATIONS[stretch], 0);
  const all = clientsOf(options).length * perClient;
  return {
    onRow: (row) => {
      folder.append(row);
      progress.show(Math.min(folder.rows.length / all, 0.999), row.id);
    },
  };
}

/** A client that knows B alone, and one whose path becomes B and A again. */
async function visit(
  client: Client,
  { lane, ...options }: Omit<StretchOptions, "stretch" | "clientAddress"> & { readonly lane: Lane },
): Promise<void> {
  for (const stretches of [[CONTROL], STRETCHES] as const satisfies readonly (readonly Stretch[])[]) {
    const clientAddress = lane.freshClient();
    for (const stretch of stretches) {
      if (options.signal.aborted) return;
      await runStretch({ ...options, stretch: { ...client, stretch }, clientAddress, lane });
    }
  }
}
