import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { findProgram } from "../../../base/find-program.ts";
import { UserError } from "../../../base/user-error.ts";
import { lastLines, runProgram } from "../../lab/run-program.ts";

const FOLDER = join(ROOT, "bench/experiments/cross-check");
const REQUIREMENTS = join(FOLDER, "requirements.txt");
const VENV = join(ROOT, "dist/cross-check-venv");
const PYTHON = join(VENV, "bin/python");
/** Says which packages the environment has; written last, so that a half-made one has none. */
const STAMP = join(VENV, "requirements.sha256");
/** The second client, isolated: no variable and no package of this user's own. */
export const THEIR_CLIENT = [PYTHON, "-I", join(FOLDER, "client.py")] as const;

/** Makes the second client's environment where it is not there yet; what the client is made of. @throws UserError */
export async function requireTheirClient(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  const wanted = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex");
  if (!existsSync(STAMP) || readFileSync(STAMP, "utf8") !== wanted) {
    const system = findProgram("python3");
    if (system === undefined)
      throw new UserError("The second client needs Python: install your system's package python3.");
    console.error("Installing the second client's packages (PyPI) into dist/cross-check-venv ...");
    rmSync(VENV, { recursive: true, force: true });
    mkdirSync(join(ROOT, "dist"), { recursive: true });
    const noVenv = "python3 -m venv failed; it may be your system's package python3-venv that is missing";
    await run(noVenv, [system, "-m", "venv", VENV], signal);
    // Wheels alone: a package that is built from source runs code that no hash here names (its build's own packages).
    const flags = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:"];
    const notInstalled =
      "The second client's packages could not be installed from PyPI; they need Python 3.11 or newer";
    await run(notInstalled, [PYTHON, "-m", "pip", "install", ...flags, "-r", REQUIREMENTS], signal);
    writeFileSync(STAMP, wanted);
  }
  const versions = await run("The second client does not start", [...THEIR_CLIENT, "--versions"], signal);
  return JSON.parse(versions) as Readonly<Record<string, string>>;
}

/** What a program prints. @throws UserError with what it said last, where it fails */
export async function run(
  failure: string,
  command: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, signal);
  if (code !== 0) throw new UserError(`${failure} (${code}):\n${lastLines(stderr || stdout)}`);
  return stdout;
}
