import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { machine } from "../../harness/machine.ts";
import { heapGrowth, timeSubjects } from "./measure.ts";
import { nodeMeter } from "./node-meter.ts";
import { readDecideCostOptions } from "./options.ts";
import { measuredPolicy } from "./policy.ts";
import { costTable, decideCostReport } from "./report.ts";
import { subjectsFor } from "./subjects.ts";
import { BOUND_NS, costsOf, type DecideCostSummary, growsNowhere, isWithinBound } from "./summary.ts";

const SEED = 1;
const HEAP_CALLS = 1_000_000;

/** What a decision costs, beside a plain look-up and beside an update of what is known of a client. @throws UserError */
export function decideCost(args: readonly string[]): Promise<void> {
  const options = readDecideCostOptions(args);
  const measured = measuredPolicy();
  const meter = nodeMeter();
  const subjects = subjectsFor(measured, SEED);
  const timings = timeSubjects(subjects, options.rounds, meter);
  const growth = new Map(subjects.map((subject) => [subject.name, heapGrowth(subject, HEAP_CALLS, meter)] as const));
  const costs = costsOf(subjects, timings, growth);
  const summary: DecideCostSummary = {
    command: ["npm run bench -- decide-cost", ...args].join(" "),
    day: new Date().toISOString().slice(0, 10),
    policy: measured.name,
    nodes: { tcp: measured.tcp.stayMs.length, quic: measured.quic.stayMs.length },
    rounds: options.rounds,
    heapCalls: HEAP_CALLS,
    machine: machine(),
    costs,
    boundNs: BOUND_NS,
    withinBound: isWithinBound(costs),
    nothingGrows: growsNowhere(costs),
  };
  const folder = resolve(options.out ?? join(ROOT, ".adaptive-h3/bench/decide-cost"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "summary.json"), `${JSON.stringify(summary, undefined, 2)}\n`);
  writeFileSync(join(folder, "report.md"), decideCostReport(summary));
  console.log(costTable(summary));
  console.log(
    `decide is ${summary.withinBound ? "within" : "over"} its bound of ${BOUND_NS} ns. In ${relative(process.cwd(), folder) || "."}: report.md, summary.json.`,
  );
  return Promise.resolve();
}
