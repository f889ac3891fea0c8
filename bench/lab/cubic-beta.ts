import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { UserError } from "../../infra/setup/programs.ts";

/** What CUBIC keeps of its window at a loss, of 1,024 (net/ipv4/tcp_cubic.c). Of the whole machine: namespaces share it. */
export const CUBIC_BETA_FILE = "/sys/module/tcp_cubic/parameters/beta";
const SCALE = 1_024;

/**
 * Holds the file's value, says it, and puts it back when the standard input ends: however the bench ended, even by kill -9.
 * In a session of its own, and deaf to signals that are meant for the bench.
 */
const GUARD = `
trap '' HUP INT TERM
exec 9<"$1"
flock -n 9 || exit 3
before=$(cat "$1")
echo "$before"
cat > /dev/null
echo "$before" > "$1"
`;

/** CUBIC's beta while a lab runs. */
export interface CubicBeta {
  /** The share of the window that is given up at a loss; undefined: what the machine had. New connections or old, at once. */
  set(givenUp: number | undefined): void;
}

/**
 * The setting is put back when `stack` ends, or this process does.
 *
 * @throws UserError where this kernel has no such setting, or another bench has changed it
 */
export async function holdCubicBeta(stack: AsyncDisposableStack, file = CUBIC_BETA_FILE): Promise<CubicBeta> {
  if (!existsSync(file))
    throw new UserError(`CUBIC's beta cannot be set on this machine: there is no ${file}. Try modprobe tcp_cubic.`);
  const guard: ChildProcess = spawn("sh", ["-c", GUARD, "sh", file], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(guard, "close");
  stack.defer(async () => {
    guard.stdin?.end();
    await ended;
  });
  const before = await firstLine(guard);
  if (before === undefined) {
    const [code] = (await ended) as [number | null];
    throw new UserError(
      code === 3
        ? `Another run is changing ${file}, which is the whole machine's: wait for its end.`
        : `${file} cannot be held (exit code ${code}): it takes a shell and util-linux' flock.`,
    );
  }
  let current = before;
  return {
    set: (givenUp) => {
      const wanted = givenUp === undefined ? before : String(Math.round(SCALE * (1 - givenUp)));
      if (wanted !== current) writeFileSync(file, wanted);
      current = wanted;
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<string | undefined> {
  if (stdout === null) return undefined;
  const { value, done } = await createInterface({ input: stdout })[Symbol.asyncIterator]().next();
  return done === true ? undefined : value;
}
