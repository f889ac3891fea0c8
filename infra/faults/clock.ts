import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";

/** The wall clock of one program, which can be shifted while the program runs (clock.c). The machine's clock stays. */
export interface Clock {
  /** The program and arguments that run a program with this clock. */
  readonly runner: readonly [string, ...string[]];
  /** Sets the clock so many seconds ahead of the machine's; negative: behind. */
  shift(seconds: number): void;
}

/** The C compiler of this machine. */
export function findCompiler(): string | undefined {
  return ["cc", "gcc", "clang"].map((name) => findProgram(name)).find((path) => path !== undefined);
}

/** Builds a clock in a folder. @throws UserError */
export function buildClock(folder: string): Clock {
  const library = join(folder, "clock.so");
  const file = join(folder, "clock");
  const compiler = findCompiler();
  if (compiler === undefined) throw new UserError("No C compiler was found.");
  execFileSync(compiler, ["-shared", "-fPIC", "-O2", "-o", library, join(ROOT, "infra/faults/clock.c")]);
  writeFileSync(file, shifted(0));
  return {
    runner: ["env", `LD_PRELOAD=${library}`, `ADAPTIVE_H3_CLOCK=${file}`],
    shift: (seconds) => {
      // In place: the program has this file mapped.
      const descriptor = openSync(file, "r+");
      writeSync(descriptor, shifted(seconds), 0, 8, 0);
      closeSync(descriptor);
    },
  };
}

/** A shift as clock.c reads it: nanoseconds. */
function shifted(seconds: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(seconds) * 1_000_000_000n);
  return bytes;
}
