import { createInterface } from "node:readline/promises";
import { isYes } from "../../base/is-yes.ts";
import type { Call } from "./command.ts";
import { EXIT, Failure, misused } from "./failure.ts";
import { columnsOf, wrapped } from "./table.ts";

/**
 * Shows what is about to happen, and asks. Returns after a yes, or with --yes without a question. Without a terminal it
 * refuses.
 *
 * @throws Failure
 */
export async function confirm({ options, io, print }: Call, preview: string, question: string): Promise<void> {
  const asks = options.yes !== true;
  // The person who is asked must see the preview. With --json it goes to stderr, as the question does.
  if (asks && options.json === true) io.stderr.write(`${wrapped(preview, columnsOf(io, io.stderr))}\n\n`);
  else print(`${preview}\n`);
  if (!asks) return;
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true)
    throw misused(`${question} This is no terminal to ask on: with --yes it is done without asking.`);
  if (!isYes(await answerTo(`${question} Type yes: `, io))) throw misused("Nothing was changed.");
}

/** Reads one line from the terminal. @throws Failure after Ctrl-C and Ctrl-D */
async function answerTo(question: string, { stdin, stderr }: Call["io"]): Promise<string> {
  const terminal = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    return await terminal.question(question);
  } catch {
    stderr.write("\n");
    throw new Failure(EXIT.interrupted, "Nothing was changed.");
  } finally {
    terminal.close();
  }
}
