import { UserError } from "./user-error.ts";

/** Runs a program's main function. A UserError is printed as a sentence, and the exit code is 1. */
export async function runMain(main: () => Promise<void> | void): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
