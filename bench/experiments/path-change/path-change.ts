import { csvOf } from "../../model/recorded-run.ts";
import { policyOf } from "../../lab/arm-policy.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { type Lab, startLab } from "../../lab/lab.ts";
import { buildLab } from "../../lab/programs.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { startProgress } from "../../harness/progress.ts";
import { openRunFolder, type RunFolder } from "../../harness/run-folder.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { SampleBook } from "../../harness/loads/sample-book.ts";
import { findingOf, withSettled } from "./findings.ts";
import { dependsOnAnswerBefore } from "./margin.ts";
import { type PathChangeOptions, readPathChangeOptions } from "./options.ts";
import { pathChangeReport, type PathChangeSummary, summaryLines } from "./report.ts";
import { NAVIGATION_ROW, type NavigationRow } from "./row.ts";
import { runStretch, type StretchOptions } from "./run-stretch.ts";
import { ALL_STRETCHES, APART_MS, CONTROL, NAVIGATIONS, type Stretch, STRETCHES, TIMEOUT_MS } from "./scenarios.ts";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";

/**
 * How fast the adaptive arm follows a path that changes while a client is visiting. Begins anew each time; rows are
 * written as they come.
 *
 * @throws UserError
 */
export async function pathChange(args: readonly string[]): Promise<void> {
  const options = readPathChangeOptions(args);
  const { scenarios, congestions, clients, seed } = options;
  const path = resolve(options.out ?? join(ROOT, ".adaptive-h3/bench/path-change"));
  if (options.report) {
    const file = join(path, "summary.json");
    if (!existsSync(file))
      throw new UserError(
        `${path} holds no run that came to its end: there is no summary.json. Leave out --report to make one.`,
      );
    const made = JSON.parse(readFileSync(file, "utf8")) as PathChangeSummary;
    writeResults(path, rowsIn(path, NAVIGATION_ROW), options.congestions, made);
    return;
  }
  const { signal, release } = onInterruption();
  let folder: RunFolder<NavigationRow> | undefined;
  try {
    await buildLab();
    const asked = {
      experiment: "path-change",
      seed,
      clients,
      congestions,
      scenarios,
      navigations: NAVIGATIONS,
      apartMs: APART_MS,
      timeoutMs: TIMEOUT_MS,
    };
    folder = openRunFolder(path, asked, NAVIGATION_ROW, true);
    if (!signal.aborted) await measure(options, folder, signal);
    if (signal.aborted) {
      console.error(`Interrupted: ${folder.rows.length} rows are in ${path}, without a report.`);
      process.exitCode = 130;
      return;
    }
    writeResults(path, folder.rows, congestions, {
      command: ["npm run bench -- path-change", ...args].join(" "),
      day: new Date().toISOString().slice(0, 10),
      seed,
      clients,
      scenarios,
      machine: machine(),
    });
  } finally {
    folder?.close();
    release();
  }
}

function writeResults(
  path: string,
  rows: readonly NavigationRow[],
  congestions: PathChangeOptions["congestions"],
  about: Omit<PathChangeSummary, "findings">,
): void {
  const findings = about.scenarios.flatMap(({ name }) =>
    congestions.map((congestion) =>
      findingOf(
        name,
        congestion,
        rows.filter((row) => row.scenario === name && row.congestion === congestion),
        (row) => dependsOnAnswerBefore(policyOf("adaptive", congestion, "quic-go") as Policy, row),
      ),
    ),
  );
  const summary: PathChangeSummary = { ...about, findings };
  const full = withSettled(rows, findings);
  writeFileSync(join(path, "rows.csv"), csvOf(full, NAVIGATION_ROW));
  writeFileSync(join(path, "summary.json"), `${JSON.stringify(summary, undefined, 2)}\n`);
  writeFileSync(join(path, "report.md"), pathChangeReport(summary));
  for (const line of summaryLines(findings)) console.log(line);
  console.log(`${rows.length} rows. In ${relative(process.cwd(), path) || "."}: report.md, summary.json, rows.csv.`);
}

async function measure(
  options: PathChangeOptions,
  folder: RunFolder<NavigationRow>,
  interrupted: AbortSignal,
): Promise<void> {
  const { scenarios, congestions, clients } = options;
  const perClient = ALL_STRETCHES.reduce((sum, stretch) => sum + NAVIGATIONS[stretch], 0);
  const all = scenarios.length * congestions.length * clients * perClient;
  const lab = await startLab({ arms: ["adaptive"], lanes: 1 });
  const samples = new SampleBook();
  lab.onSample((sample) => samples.add(sample));
  const broken = new AbortController();
  void lab.failed.then((why) => broken.abort(why));
  const signal = AbortSignal.any([interrupted, broken.signal]);
  const progress = startProgress(0);
  try {
    for (const scenario of scenarios)
      for (const congestion of congestions)
        for (let client = 1; client <= clients; client++)
          await runClient({ scenario, congestion, client }, lab, {
            samples,
            seed: options.seed,
            signal,
            onRow: (row) => {
              folder.append(row);
              progress.show(folder.rows.length / all, row.id);
            },
          });
    if (broken.signal.aborted) throw new UserError(String(broken.signal.reason));
  } finally {
    progress.end();
    await lab.stop();
  }
}

async function runClient(
  who: Omit<StretchOptions["stretch"], "stretch">,
  lab: Lab,
  options: Pick<StretchOptions, "samples" | "seed" | "signal" | "onRow">,
): Promise<void> {
  const [lane] = lab.lanes;
  if (lane === undefined) throw new Error("A lab has a lane.");
  for (const stretches of [[CONTROL], STRETCHES] as const satisfies readonly (readonly Stretch[])[]) {
    const clientAddress = lane.freshClient();
    for (const stretch of stretches) {
      if (options.signal.aborted) return;
      await runStretch({ ...options, stretch: { ...who, stretch }, clientAddress, lane, folder: lab.folder });
    }
  }
}
