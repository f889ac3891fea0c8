import { fillFile } from "../analysis/tables/template.ts";
import { browserValues } from "./browser-section.ts";
import { costValues } from "./cost-section.ts";
import { policiesValues } from "./quic-policies-section.ts";
import type { Recorded } from "./recorded.ts";
import { savingValues } from "./saving-section.ts";
import { congestionValues, evaluationValues, gridValues, memoryValues, stacksValues } from "./sections.ts";
import { limitsValues, sweepValues } from "./series-section.ts";

/** docs/results.md: every published experiment that was run here, beside its published table. */
export function resultsPage(recorded: Recorded): string {
  return fillFile("bench/pages/results.md", {
    grid: gridValues(recorded.grid),
    evaluation: evaluationValues(recorded.evaluation),
    sweep: sweepValues(recorded.sweep),
    limits: limitsValues(recorded.limits),
    congestion: congestionValues(recorded.congestion),
    browser: browserValues(recorded.browser),
    stacks: stacksValues(recorded.stacks),
    policies: policiesValues(recorded.quicEvaluations),
    memory: memoryValues(recorded.memory),
    saving: savingValues(recorded.evaluation, recorded.browser, recorded.replay),
    cost: costValues(recorded.overhead, recorded.apiLoad),
  });
}
