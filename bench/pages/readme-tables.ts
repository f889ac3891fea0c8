import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";
import { browserReadmeTable } from "../experiments/browser-page/readme-table.ts";
import type { BrowserSummary } from "../experiments/browser-page/summary.ts";
import { overheadReadmeTable } from "../experiments/overhead/readme-table.ts";
import type { OverheadSummary } from "../experiments/overhead/summary.ts";
import { type DecisionsSummary, decisionsTable } from "./decisions-table.ts";
import { replayReadmeTable } from "./replay-table.ts";
import { type WinnersSummary, winnersTable } from "./winners-table.ts";

/** The tables of the README, of what was recorded. */
export function readmeTables(): string[] {
  const evaluation = recorded("ohashi-evaluation") as WinnersSummary & DecisionsSummary;
  return [
    overheadReadmeTable(recorded("overhead") as OverheadSummary),
    winnersTable(evaluation),
    decisionsTable(evaluation),
    browserReadmeTable(recorded("browser-page") as BrowserSummary),
    replayReadmeTable(recorded("replay") as ReplayTable[]),
  ];
}

/** The text with these tables in place of those that have the same heads. @throws where the text has no such table */
export function withTables(text: string, tables: readonly string[]): string {
  return tables.reduce((page, table) => {
    const blocks = page.split("\n\n");
    const at = blocks.findIndex((block) => headOf(block) === headOf(table));
    if (at === -1) throw new Error(`There is no table with the head ${headOf(table)}.`);
    return blocks.with(at, table.trimEnd()).join("\n\n");
  }, text);
}

/** The words of a table's first row, whatever their padding. */
function headOf(table: string): string {
  return (table.split("\n", 1)[0] ?? "").replaceAll(/ +/g, " ");
}

function recorded(experiment: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, "bench/results", experiment, "summary.json"), "utf8"));
}
