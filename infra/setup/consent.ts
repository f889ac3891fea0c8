import { openSync, readSync, writeSync } from "node:fs";
import { isYes } from "../../base/is-yes.ts";

/** The variable that allows installations in advance; `npm test -- --install` sets it. */
export const CONSENT_VARIABLE = "INSTALL";

const asked = new Map<string, boolean>();

/**
 * Whether something may be installed on this machine, outside of this folder. CI=true or INSTALL=yes allows it, or the person
 * at the terminal does. Each question is asked once.
 */
export function mayInstall(what: string, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env["CI"] === "true" || env[CONSENT_VARIABLE] === "yes") return true;
  let answer = asked.get(what);
  if (answer === undefined) {
    answer = process.stdin.isTTY && process.stderr.isTTY ? ask(what) : false;
    asked.set(what, answer);
    if (!answer) console.error(`${what} is not installed: allow it with --install, or with ${CONSENT_VARIABLE}=yes.`);
  }
  return answer;
}

function ask(what: string): boolean {
  const terminal = openSync("/dev/tty", "r+");
  writeSync(terminal, `Install ${what} on this machine? [y/N] `);
  const line = Buffer.alloc(64);
  const length = readSync(terminal, line);
  return isYes(line.toString("utf8", 0, length));
}
