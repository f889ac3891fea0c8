import { defineExperiment } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { SampleBook } from "../../harness/loads/sample-book.ts";
import { buildLab } from "../../lab/programs.ts";
import { flag, type OptionsOf, wholeNumber } from "../../model/options.ts";
import { withSettled } from "./findings.ts";
import { followingTable, lastOfEach, pathChangeSummary, pathChangeValues } from "./report.ts";
import { type Navigation, NAVIGATION_ROW, navigationId, type NavigationRow } from "./row.ts";
import { runStretch } from "./run-stretch.ts";
import { APART_MS, chosen, NAVIGATIONS, STRETCHES, TIMEOUT_MS } from "./scenarios.ts";

const OPTIONS = {
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
    const { scenarios, congestions, clients } = chosen(given);
    const settings = { navigations: NAVIGATIONS, apartMs: APART_MS, timeoutMs: TIMEOUT_MS };
    return { seed: given.seed, clients, congestions, scenarios, ...settings };
  },
  done: (given, rows) => 1 - missingClients(given, rows).length / missingClients(given, []).length,
  prepare: async () => {
    await buildLab();
    return undefined;
  },
  measure: async ({ options: given, folder, signal: interrupted, progress }) => {
    const missing = missingClients(given, folder.rows);
    const before = missingClients(given, []).length - missing.length;
    await inLab({ arms: ["adaptive"], lanes: 1 }, interrupted, async (lab, lane, signal) => {
      const samples = new SampleBook();
      lab.onSample((sample) => samples.add(sample));
      const onRow = (row: NavigationRow): void => folder.append(row);
      const options = { lane, folder: lab.folder, samples, seed: given.seed, signal, onRow };
      for (const [i, client] of missing.entries()) {
        progress.show((before + i) / (before + missing.length), `${client.scenario.name} ${client.congestion}`);
        // A client that knows B alone, and one whose path becomes B and A again.
        for (const stretches of [["B0"], ["A1", "B", "A2"]] as const) {
          const address = lane.freshClient();
          for (const stretch of stretches)
            if (!signal.aborted) await runStretch({ ...client, stretch }, address, options);
        }
      }
    });
  },
  summarise: ({ options, ...recorded }) => pathChangeSummary(recorded, chosen(options), options.seed),
  settled: (rows, { findings }) => withSettled(lastOfEach(rows), findings),
  report: (summary) => ({ values: pathChangeValues(summary) }),
  lines: ({ findings }) => [followingTable(findings)],
});

type Given = OptionsOf<typeof OPTIONS>;
type Client = Omit<Navigation, "stretch" | "number">;

/** A client whose visit was cut short makes all of it again, from a new address. */
function missingClients(given: Given, rows: readonly NavigationRow[]): Client[] {
  const { scenarios, congestions, clients } = chosen(given);
  const made = new Set(rows.map(({ id }) => id));
  return scenarios
    .flatMap((scenario) =>
      congestions.flatMap((congestion) =>
        Array.from({ length: clients }, (_, i): Client => ({ scenario, congestion, client: i + 1 })),
      ),
    )
    .filter((client) =>
      STRETCHES.some((stretch) => !made.has(navigationId({ ...client, stretch, number: NAVIGATIONS[stretch] }))),
    );
}
