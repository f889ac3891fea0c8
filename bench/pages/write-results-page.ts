import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { readmeTables, withTables } from "./readme-tables.ts";
import { readRecorded } from "./recorded.ts";
import { resultsPage } from "./results-page.ts";

export const RESULTS_PAGE = join(ROOT, "docs/results.md");

/** Writes docs/results.md, and the tables of the README, of what was recorded in bench/results. @throws UserError where it takes arguments */
export async function writeResultsPage(args: readonly string[]): Promise<void> {
  if (args.length > 0) throw new UserError(`\`results\` takes no options, and got ${args.join(" ")}.`);
  writeFileSync(RESULTS_PAGE, resultsPage(readRecorded()));
  const readme = join(ROOT, "README.md");
  writeFileSync(readme, withTables(readFileSync(readme, "utf8"), readmeTables()));
  console.log("Written: docs/results.md and the tables of README.md.");
}
