import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { LINUX_TCP_BUFFERS } from "../../lab/namespace.ts";
import { buildLab } from "../../lab/programs.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { onInterruption } from "../../harness/interruption.ts";
import { machine } from "../../harness/machine.ts";
import { startProgress } from "../../harness/progress.ts";
import { openRunFolder } from "../../harness/run-folder.ts";
import { addStart } from "../../harness/starts.ts";
import { readStarts } from "../../model/recorded-run.ts";
import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { type Crowd, crowdId, type CrowdSettings, measureCrowd } from "./measure.ts";
import { memoryPicture, memoryReport, PICTURE } from "./report.ts";
import { MEMORY_ROW } from "./row.ts";
import { memorySummary } from "./summary.ts";

const SETTINGS: CrowdSettings = {
  bytes: 1_000_000,
  rateMbps: 100,
  delayMs: 25,
  queueBytes: 1_500_000,
  // As operators have them: with the bench's own each socket begins with room for 128 kB.
  tcpBuffers: LINUX_TCP_BUFFERS,
};
const USUAL = { clients: [1, 50, 100, 200], rounds: 5 };
const QUICK = { clients: [1, 20], rounds: 2 };
const SEED = 1;

/**
 * `npm run bench -- memory`: what connections over HTTP/2 and HTTP/3 take of the edge, the kernel and the clients. Goes on
 * where an earlier run with the same options was interrupted.
 *
 * @throws UserError
 */
export async function memory(args: readonly string[]): Promise<void> {
  const { quick, out, fresh } = readFlags(args);
  const { clients, rounds } = quick ? QUICK : USUAL;
  const path = resolve(out ?? join(ROOT, `.adaptive-h3/bench/memory${quick ? "-quick" : ""}`));
  const { signal, release } = onInterruption();
  try {
    await buildLab();
    const asked = { experiment: "memory", ...SETTINGS, clients, rounds };
    const folder = openRunFolder(path, asked, MEMORY_ROW, fresh);
    try {
      const crowds = plan(clients, rounds);
      const left = crowds.filter((crowd) => !folder.rows.some(({ id }) => id === crowdId(crowd)));
      if (left.length > 0)
        addStart(path, { at: new Date().toISOString(), lanes: 1, rowsBefore: folder.rows.length, machine: machine() });
      const progress = startProgress(folder.rows.length / crowds.length);
      try {
        for (const crowd of left) {
          progress.show(folder.rows.length / crowds.length, crowdId(crowd));
          const row = signal.aborted ? undefined : await measureCrowd(crowd, SETTINGS, signal);
          if (row === undefined) break;
          folder.append(row);
        }
      } finally {
        progress.end();
      }
      if (signal.aborted) {
        console.error(`Interrupted. ${folder.rows.length} rows are kept: the same command goes on.`);
        process.exitCode = 130;
        return;
      }
      const starts = readStarts(path);
      if (starts.length === 0) throw new UserError(`${path} has rows, but no starts.json that says what made them.`);
      const command = ["npm run bench -- memory", ...args.filter((arg) => arg !== "--fresh")].join(" ");
      const about = { command, starts, rounds, ...SETTINGS };
      const summary = memorySummary(folder.rows, SEED);
      folder.write("summary.json", `${JSON.stringify({ ...about, ...summary }, undefined, 2)}\n`);
      folder.write("report.md", memoryReport(about, summary));
      folder.write(PICTURE, await renderSvg(memoryPicture(summary)));
      console.log(
        `${folder.rows.length} rows. In ${relative(process.cwd(), path) || "."}: report.md, summary.json, rows.csv, ${PICTURE}.`,
      );
    } finally {
      folder.close();
    }
  } finally {
    release();
  }
}

/** Every crowd once a round, in an order of its own. */
function plan(clients: readonly number[], rounds: number): Crowd[] {
  return Array.from({ length: rounds }, (_, round) =>
    shuffle(
      (["h2", "h3"] as const).flatMap((protocol) => clients.map((count) => ({ protocol, clients: count, round }))),
      seededRandom(SEED, "memory", String(round)),
    ),
  ).flat();
}

function readFlags(args: readonly string[]): { quick: boolean; fresh: boolean; out?: string | undefined } {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean", default: false },
        fresh: { type: "boolean", default: false },
        out: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown here: --quick, --out FOLDER, --fresh.`);
  }
}
