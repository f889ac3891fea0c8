import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { findProgram } from "../../../base/find-program.ts";
import { UserError } from "../../../base/user-error.ts";
import { lastLines, runProgram } from "../../lab/run-program.ts";

const REQUIREMENTS = join(ROOT, "bench/experiments/cross-check/requirements.txt");
const VENV = join(ROOT, "dist/cross-check-venv");
/** Says which packages the environment has; written last, so that a half-made one has none. */
const STAMP = join(VENV, "requirements.sha256");
/** What aioquic 1.7 asks for. */
const PYTHON_MINOR = 11;

/** What the second client is made of. */
export interface PythonVersions {
  readonly python: string;
  readonly aioquic: string;
  readonly h2: string;
  readonly openssl: string;
}

/** The interpreter with the pinned packages; makes the environment where it is not there yet. @throws UserError */
export async function requirePython(signal: AbortSignal): Promise<string> {
  const python = join(VENV, "bin/python");
  const wanted = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted && (await run(python, ["-V"], signal)).ok)
    return python;
  const system = findProgram("python3");
  const needed = `The second client needs Python 3.${PYTHON_MINOR} or newer`;
  if (system === undefined)
    throw new UserError(`${needed}, and no python3 is on the PATH: install your system's package python3.`);
  const version = await run(system, ["-c", `import sys; sys.exit(sys.version_info < (3, ${PYTHON_MINOR}))`], signal);
  if (!version.ok) throw new UserError(`${needed}, and ${system} is older: install a newer one.`);
  console.error("Installing the second client's packages (PyPI) into dist/cross-check-venv ...");
  rmSync(VENV, { recursive: true, force: true });
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  let done = false;
  try {
    const made = await run(system, ["-m", "venv", VENV], signal);
    if (!made.ok)
      throw new UserError(
        `python3 -m venv failed: where it says that ensurepip is missing, install your system's package python3-venv.\n${made.said}`,
      );
    // Wheels alone: a package that is built from source runs code that no hash here names (its build's own packages).
    const flags = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:"];
    const installed = await run(python, ["-m", "pip", "install", ...flags, "-r", REQUIREMENTS], signal);
    if (!installed.ok)
      throw new UserError(
        `The second client's packages could not be installed: PyPI was not reached, or has no wheel for this machine.\n${installed.said}`,
      );
    writeFileSync(STAMP, wanted);
    done = true;
  } finally {
    if (!done) rmSync(VENV, { recursive: true, force: true });
  }
  return python;
}

export async function pythonVersions(python: string, signal: AbortSignal): Promise<PythonVersions> {
  const { ok, said } = await run(
    python,
    ["-I", join(ROOT, "bench/experiments/cross-check/client.py"), "--versions"],
    signal,
  );
  if (!ok) throw new UserError(`The second client does not start:\n${said}`);
  return JSON.parse(said) as PythonVersions;
}

async function run(
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ ok: boolean; said: string }> {
  const { code, stdout, stderr } = await runProgram([program, ...args], signal);
  return { ok: code === 0, said: code === 0 ? stdout : lastLines(stderr || stdout) };
}
