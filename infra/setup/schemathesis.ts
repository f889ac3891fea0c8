import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { findOrInstall, installPackage } from "./programs.ts";

const REQUIREMENTS = join(ROOT, "infra/e2e/schemathesis/requirements.txt");
const VENV = join(ROOT, "dist/schemathesis-venv");
/** Names the packages of the environment. It is written last, so an incomplete environment has none. */
const STAMP = join(VENV, "requirements.sha256");
const PROGRAM = join(VENV, "bin/schemathesis");
/** The Python of that environment, which also has the parser of Cloudflare's expressions. */
export const TESTS_PYTHON = join(VENV, "bin/python");

/** The path of schemathesis, in its own environment with the pinned packages. Undefined if it is not installed. */
export function schemathesisProgram(): string | undefined {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted() && runs([PROGRAM, "--version"])
    ? PROGRAM
    : undefined;
}

/** Finds schemathesis, or installs it if possible: that needs Python 3.11 or newer, and PyPI. */
export function installSchemathesis(): string | undefined {
  const found = schemathesisProgram();
  if (found !== undefined) return found;
  const python = findOrInstall(["python3"], "python3");
  if (python === undefined) return undefined;
  console.error("Installing schemathesis (PyPI) into dist/schemathesis-venv ...");
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  // Debian's python3 needs another package to make environments.
  const made =
    runs([python, "-m", "venv", "--clear", VENV]) ||
    (installPackage("python3-venv") && runs([python, "-m", "venv", "--clear", VENV], "show"));
  // Only wheels: building a package from source may run code that no hash here covers.
  const flags = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:"];
  if (made && runs([TESTS_PYTHON, "-m", "pip", "install", ...flags, "-r", REQUIREMENTS], "show"))
    writeFileSync(STAMP, wanted());
  else rmSync(VENV, { recursive: true, force: true });
  return schemathesisProgram();
}

function wanted(): string {
  return createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex");
}

function runs([program, ...args]: readonly [string, ...string[]], show?: "show"): boolean {
  const output = show === undefined ? "ignore" : 2;
  return spawnSync(program, args, { stdio: ["ignore", output, output], timeout: 300_000 }).status === 0;
}
