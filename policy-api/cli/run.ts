import type { Result } from "./command.ts";
import { findEndpoint } from "./endpoint.ts";
import { EXIT, type ExitCode, Failure, failureJson, failureText } from "./failure.ts";
import { commandHelp, commandOf, overview } from "./help.ts";
import type { Io } from "./io.ts";
import { readLine, refuseEaten, requireOnly } from "./options.ts";
import { columnsOf, wrapped } from "./wrapping.ts";

/** Runs one command line. Returns the exit code. It does not reject for faults that its user can mend. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  // Read here, as the rest of the line may be unreadable.
  const isJson = argv.includes("--json");
  try {
    refuseEaten(io.env);
    const { json, text, isVerbatim = false, exitCode = EXIT.done } = await resultOf(readLine(argv), io);
    const shown = isVerbatim ? text : wrapped(text, columnsOf(io, io.stdout));
    io.stdout.write(`${isJson ? JSON.stringify(json, undefined, 2) : shown}\n`);
    return exitCode;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (isJson) io.stdout.write(`${JSON.stringify(failureJson(error), undefined, 2)}\n`);
    else if (error.message !== "") io.stderr.write(`${wrapped(failureText(error), columnsOf(io, io.stderr))}\n`);
    return error.exitCode;
  }
}

async function resultOf({ words: [name, ...words], options }: ReturnType<typeof readLine>, io: Io): Promise<Result> {
  const isHelp = name === "help" || options.help === true;
  if (name === undefined && !isHelp) throw new Failure(EXIT.usage, "Which command?", { detail: `\n${overview()}` });
  const asked = name === "help" ? words[0] : name;
  if (isHelp) {
    const text = asked === undefined ? overview() : commandHelp(commandOf(asked));
    return { json: { help: text }, text };
  }
  const command = commandOf(name ?? "");
  requireOnly(options, command.options ?? [], command.name);
  const [min, max] = command.words ?? [0, 0];
  if (words.length < min || words.length > max)
    throw new Failure(EXIT.usage, `It is: ${command.name} ${command.usage}`.trim());
  return command.run({
    words,
    options,
    io,
    api: async () => {
      const { connect } = await import("./api.ts");
      return connect(findEndpoint(options, io));
    },
    get columns() {
      return columnsOf(io, io.stdout);
    },
    tell: (text) => {
      if (options.json !== true) io.stdout.write(`${wrapped(text, columnsOf(io, io.stdout))}\n`);
    },
  });
}
