import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import type { CubicSettings } from "../model/cell.ts";

/** CUBIC's parameters (net/ipv4/tcp_cubic.c), of the whole machine: namespaces share them. */
export const CUBIC_FOLDER = "/sys/module/tcp_cubic/parameters";
/** What CUBIC keeps of its window at a loss, of so many. */
const SCALE = 1_024;
const FILES = ["beta", "tcp_friendliness"] as const;

const DEFAULT_BETA = 0.3;

/**
 * Holds what the files say, says that it does, and puts it back when the standard input ends: however the bench ended, even
 * by kill -9. In a session of its own, and deaf to signals that are meant for the bench.
 */
const GUARD = `
trap '' HUP INT TERM
command -v flock > /dev/null || exit 4
[ -w "$1" ] && [ -w "$2" ] || exit 5
exec 9<"$1"
flock -n 9 || exit 3
beta=$(cat "$1")
friendliness=$(cat "$2")
echo held
cat > /dev/null
echo "$beta" > "$1"
echo "$friendliness" > "$2"
`;

/** Why the guard could not begin, by its exit code. */
const REASONS: Readonly<Record<number, string>> = {
  3: "Another run is changing it, and it is the whole machine's: wait for its end.",
  4: "It takes util-linux' flock.",
  5: `${FILES.join(" or ")} cannot be written. Try modprobe tcp_cubic.`,
};

/** CUBIC while a lab runs. */
export interface Cubic {
  /** For new connections and old ones, at once. @throws UserError where the kernel does not take it */
  set(settings: CubicSettings): void;
}

/**
 * What is set is put back when `stack` ends, or this process does.
 *
 * @throws UserError where this kernel has no such setting, or another bench is changing it
 */
export async function holdCubic(stack: AsyncDisposableStack, folder = CUBIC_FOLDER): Promise<Cubic> {
  const [beta, friendliness] = FILES.map((name) => join(folder, name)) as [string, string];
  const guard = spawn("sh", ["-c", GUARD, "sh", beta, friendliness], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(guard, "close") as Promise<[number | null]>;
  stack.defer(async () => {
    guard.stdin.end();
    await ended;
  });
  const code = await Promise.race([once(guard.stdout, "data").then(() => "held"), ended.then(([exit]) => exit)]);
  if (code !== "held")
    throw new UserError(`${folder} cannot be held. ${REASONS[Number(code)] ?? `Exit code ${code}.`}`);
  return {
    set: ({ beta: givenUp = DEFAULT_BETA, isFriendly = true }) => {
      try {
        writeFileSync(beta, String(Math.round(SCALE * (1 - givenUp))));
        writeFileSync(friendliness, isFriendly ? "1" : "0");
      } catch (error) {
        throw new UserError(`${folder} does not take a beta of ${givenUp}: ${(error as Error).message}.`);
      }
    },
  };
}
