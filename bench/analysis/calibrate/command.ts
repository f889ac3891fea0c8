import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { format } from "prettier";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { parsePolicy } from "../../../policy-api/core/parse-policy.ts";
import { LOAD_ROW, counts } from "../../model/load-row.ts";
import { readStarts, rowsIn } from "../../model/recorded-run.ts";
import type { Machine } from "../../model/machine.ts";
import { calibrate, policyOf } from "./calibrate.ts";
import { cellsOf } from "./cells.ts";
import { readCalibrateOptions } from "./options.ts";
import { type Calibrated, calibrationReport } from "./report.ts";

/** Makes a policy for each congestion control that the rows have, and a report of how good it is. @throws UserError */
export async function calibrateCommand(args: readonly string[]): Promise<void> {
  const options = readCalibrateOptions(args);
  const [policies, out] = [resolve(ROOT, options.policies), resolve(ROOT, options.out)];
  const folders = options.from.map((folder) => resolve(ROOT, folder));
  const rows = folders.flatMap((folder) => rowsIn(folder, LOAD_ROW));
  const about = {
    command: ["npm run bench -- calibrate", ...args].join(" "),
    stack: stackOf(folders),
    rowsSha256: hashOf(folders),
  };
  for (const folder of [policies, out]) mkdirSync(folder, { recursive: true });
  const done: Calibrated[] = [];
  for (const [congestion, cells] of Map.groupBy(cellsOf(rows), (cell) => cell.congestion)) {
    const calibration = calibrate(cells, options.mix);
    if (calibration === undefined)
      throw new UserError(
        `${cells.length} cells of ${congestion} are too few to fit times to: let \`calibration\` run to its end.`,
      );
    const loads = rows.filter((row) => row.congestion === congestion && row.flow === "trained" && counts(row)).length;
    const { command, stack, rowsSha256 } = about;
    const provenance = { stack, congestionControl: congestion, command, rowsSha256, loads, cells: cells.length };
    const policy = policyOf(calibration, options.mix, provenance);
    const parsed = parsePolicy(policy);
    if (!parsed.ok) throw new Error(`The policy of ${congestion} is not one: ${JSON.stringify(parsed.faults)}`);
    const file = join(policies, `${congestion}.json`);
    writeFileSync(file, await format(JSON.stringify(policy), { parser: "json", printWidth: 120 }));
    done.push({ congestion, calibration, loads });
    const { rmsError, rmsNoise } = calibration.validation.tcp;
    console.log(
      `${relative(ROOT, file)}: ${congestion}, ${loads} loads in ${cells.length} cells; a cell left out is predicted to ${percentOf(rmsError)}, where its own loads tell ${percentOf(rmsNoise)}.`,
    );
  }
  if (done.length === 0) throw new UserError(`No cell of ${options.from.join(", ")} has enough loads of each kind.`);
  writeFileSync(join(out, "report.md"), calibrationReport(done, { ...about, mix: options.mix }));
  console.log(`Report: ${relative(process.cwd(), join(out, "report.md"))}.`);
}

/** Of the files as they are: who has them can tell whether a policy is of them. */
function hashOf(folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const folder of folders) hash.update(readFileSync(join(folder, "rows.csv")));
  return hash.digest("hex");
}

function stackOf(folders: readonly string[]): string {
  const machine = folders.flatMap((folder) => readStarts(folder)).at(-1)?.machine;
  if (machine === undefined) throw new UserError(`${folders.join(", ")}: no starts.json tells what was measured.`);
  const quics = [...new Set(folders.map((folder) => quicIn(folder)))];
  if (quics.length > 1)
    throw new UserError(`${folders.join(", ")} are of different QUIC servers: ${quics.join(", ")}.`);
  return `Go ${machine.go.replace("go", "")} net/http over Linux ${machine.kernel} TCP, ${quicOf(quics[0], machine)}, workerd ${machine.workerd}`;
}

/** Who served HTTP/3 in a run. @throws UserError where the folder does not tell */
function quicIn(folder: string): string {
  try {
    return (JSON.parse(readFileSync(join(folder, "run.json"), "utf8")) as { quic?: string }).quic ?? "quic-go";
  } catch (error) {
    throw new UserError(`${folder} holds no run.json that can be read: ${(error as Error).message}.`);
  }
}

function quicOf(quic: string | undefined, { quicGo, quiche = "of unknown version" }: Machine): string {
  return quic === undefined || quic === "quic-go"
    ? `quic-go ${quicGo}`
    : `quiche ${quiche} (${quic.replace("quiche-", "")})`;
}

function percentOf(logRatio: number): string {
  return `${(100 * Math.expm1(logRatio)).toFixed(0)} %`;
}
