import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { readmePage } from "./readme-page.ts";
import { readRecorded } from "./recorded.ts";
import { resultsPage } from "./results-page.ts";

export const RESULTS_PAGE = join(ROOT, "docs/results.md");

export const README = join(ROOT, "README.md");

/** Writes docs/results.md and README.md, of what was recorded in bench/results. @throws UserError where it takes arguments */
export async function writeResultsPage(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new UserError(`\`results\` takes no options, and got ${args.join(" ")}.`);
  const recorded = readRecorded();
  writeFileSync(RESULTS_PAGE, resultsPage(recorded));
  writeFileSync(README, readmePage(recorded));
  console.log("Written: docs/results.md and README.md.");
}
