import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { ARM_SETUPS, type Quic } from "../../model/arm.ts";
import { UserError } from "../../../base/user-error.ts";
import { armsOf, type Experiment, type ExperimentOptions, withRounds } from "../../model/experiment.ts";
import { knownFidelity } from "../known-fidelity.ts";
import { startLab } from "../../lab/lab.ts";
import { buildLab, buildQuiche } from "../../lab/programs.ts";
import { writeReport } from "../../write-report.ts";
import { onInterruption } from "../interruption.ts";
import { machine } from "../machine.ts";
import { readOptions, type RunOptions } from "./options.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { type Asked, openRunFolder } from "../run-folder.ts";
import { runCells } from "./runner.ts";
import { nextLoads } from "./schedule.ts";
import { addStart } from "../starts.ts";
import { readStarts } from "../../model/recorded-run.ts";
import { readWindows } from "./windows.ts";

/**
 * Runs an experiment of loads to its end, or goes on where it stopped, and writes its report.
 *
 * @throws UserError
 */
export async function runExperiment(
  name: string,
  make: (options: ExperimentOptions) => Experiment,
  args: readonly string[],
): Promise<void> {
  const options = readOptions(args);
  const made = make(options);
  if (options.quic !== "quic-go" && made.takesQuic !== true)
    throw new UserError(
      `--quic is for calibration and ohashi-evaluation: ${name} is served by quic-go, or has arms of its own for others.`,
    );
  const asked = options.runs === undefined ? made : withRounds(made, options.runs);
  const experiment =
    options.quic === "quic-go" ? asked : { ...asked, notes: [QUIC_NOTES[options.quic], ...asked.notes] };
  const path = options.out === undefined ? join(ROOT, ".adaptive-h3/bench", name) : resolve(options.out);
  const command = ["npm run bench --", name, ...args.filter((arg) => arg !== "--fresh" && arg !== "--retry")].join(" ");
  const { signal, release } = onInterruption();
  const folder = openRunFolder(path, question(name, experiment, options), LOAD_ROW, options.fresh);
  try {
    const forgiven = new Set(options.retry ? folder.rows.map(({ id }) => id) : []);
    const missing = experiment.cells.filter((cell) => {
      const own = folder.rows.filter((row) => row.cell === cell.id);
      return nextLoads(experiment, cell, own, options.seed, forgiven).length > 0;
    });
    if (missing.length > 0) {
      await buildLab();
      if (options.quic !== "quic-go" || armsOf(experiment).some((arm) => ARM_SETUPS[arm].quic !== undefined))
        await buildQuiche();
      if (!signal.aborted) {
        console.error(
          `${folder.rows.length > 0 ? "Going on with" : "Measuring"} ${name}, ${missing.length} cells, into ${path}.`,
        );
        addStart(path, {
          at: new Date().toISOString(),
          lanes: lanesFor(experiment, options.lanes),
          rowsBefore: folder.rows.length,
          machine: machine(),
        });
        const lab = await startLab({
          arms: armsOf(experiment),
          lanes: lanesFor(experiment, options.lanes),
          quic: options.quic,
          isTraced: experiment.cells.some(({ isTraced }) => isTraced === true),
          setsCubic: experiment.cells.some(({ tcp }) => tcp?.cubic !== undefined),
        });
        try {
          await runCells({
            experiment,
            lab,
            folder,
            seed: options.seed,
            switching: options.switching,
            forgiven,
            signal,
          });
        } finally {
          await lab.stop();
        }
      }
    }
    if (signal.aborted) {
      console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
      process.exitCode = 130;
      return;
    }
    const input = {
      experiment,
      rows: folder.rows,
      windows: readWindows(path, folder.rows),
      starts: readStarts(path),
      command,
      seed: options.seed,
      quic: options.quic,
      fidelity: knownFidelity(),
    };
    const files = await writeReport(input, folder);
    console.log(`${folder.rows.length} rows. In ${relative(process.cwd(), path) || "."}: ${files.join(", ")}.`);
  } finally {
    folder.close();
    release();
  }
}

const QUIC_NOTES: Readonly<Record<Exclude<Quic, "quic-go">, string>> = {
  "quiche-cubic":
    "HTTP/3 is served by Cloudflare's quiche with its cubic, and not by quic-go: bench/instrument/quiche. It answers without worker and origin, which HTTP/2 has behind it.",
  "quiche-bbr2":
    "HTTP/3 is served by Cloudflare's quiche with its BBRv2, and not by quic-go: bench/instrument/quiche. It answers without worker and origin, which HTTP/2 has behind it.",
};

/** All that decides which rows belong together; the number of runs does not. */
function question(name: string, experiment: Experiment, options: RunOptions): Asked {
  const { loads, cells, timeoutMs } = experiment;
  return {
    experiment: name,
    seed: options.seed,
    switch: options.switching,
    // Runs of before there was another have none.
    ...(options.quic !== "quic-go" && { quic: options.quic }),
    timeoutMs,
    loads,
    cells,
  };
}

function lanesFor(experiment: Experiment, lanes: number): number {
  return Math.min(lanes, experiment.cells.length);
}
