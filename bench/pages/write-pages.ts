import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillFile } from "../analysis/tables/template.ts";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { browserValues, offersValues } from "./browser-section.ts";
import { costValues, smallLatency } from "./cost-section.ts";
import { decidesValues, shownPolicy } from "./decides-section.ts";
import { winnersTable } from "./network-tables.ts";
import { nineVisitsValues } from "./nine-visits-section.ts";
import { populationValues } from "./population-section.ts";
import { policiesValues } from "./quic-policies-section.ts";
import { readRecorded, type Recorded } from "./recorded.ts";
import { savingValues } from "./saving-section.ts";
import { congestionValues, evaluationValues, gridValues, memoryValues, stacksValues } from "./sections.ts";
import { limitsValues, sweepValues } from "./series-section.ts";

export const RESULTS_PAGE = join(ROOT, "docs/results.md");

export const README = join(ROOT, "README.md");

export const DECIDES_PAGE = join(ROOT, "docs/how-it-decides.md");

/** Writes docs/results.md, docs/how-it-decides.md and README.md, of what was recorded in bench/results. @throws UserError where it takes arguments */
export async function writePages(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new UserError(`\`results\` takes no options, and got ${args.join(" ")}.`);
  const recorded = readRecorded();
  writeFileSync(RESULTS_PAGE, resultsPage(recorded));
  writeFileSync(README, readmePage(recorded));
  writeFileSync(DECIDES_PAGE, decidesPage(shownPolicy()));
  console.log("Written: docs/results.md, docs/how-it-decides.md and README.md.");
}

/** docs/results.md: every published experiment that was run here, beside its published table. */
export function resultsPage(recorded: Recorded): string {
  return fillFile("bench/pages/results.md", {
    grid: gridValues(recorded.grid),
    evaluation: evaluationValues(recorded.evaluation),
    sweep: sweepValues(recorded.sweep),
    limits: limitsValues(recorded.limits),
    congestion: congestionValues(recorded.congestion),
    browser: browserValues(recorded.browser),
    offers: offersValues(recorded.offers),
    population: populationValues(recorded.population),
    visits: nineVisitsValues(recorded.visits),
    stacks: stacksValues(recorded.stacks),
    policies: policiesValues(recorded.quicEvaluations),
    memory: memoryValues(recorded.memory),
    saving: savingValues(recorded.evaluation, recorded.browser),
    cost: costValues(recorded.overhead, recorded.overheadAgain),
  });
}

/** docs/how-it-decides.md, with the gain table of a shipped policy and a decision by it. */
export function decidesPage(policy: Policy): string {
  return fillFile("bench/pages/how-it-decides.md", decidesValues(policy));
}

/** README.md, with the figures that were recorded. */
export function readmePage({
  evaluation,
  overhead,
  population,
  visits,
}: Pick<Recorded, "evaluation" | "overhead" | "population" | "visits">): string {
  const { clients, less } = populationValues(population);
  const { wrong, most, corrected } = nineVisitsValues(visits);
  return fillFile("bench/pages/readme.md", {
    population: { clients, less },
    winners: winnersTable(evaluation, false),
    command: evaluation.command,
    visits: { wrong, most, corrected },
    latency: (arm: string) => smallLatency(overhead, arm),
  });
}
