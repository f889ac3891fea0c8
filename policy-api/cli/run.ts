import type { Command, Result } from "./command.ts";
import type { Io } from "./io.ts";
import { findEndpoint, stateFolder } from "./endpoint.ts";
import { EXIT, type ExitCode, Failure, failureJson, failureText, misused, nearest } from "./failure.ts";
import { readLine, refuseEaten, requireOnly } from "./options.ts";
import { keepAnswer, KEPT_COMMANDS } from "./last-answers.ts";
import { columnsOf, nameList, wrapped } from "./table.ts";
import { ACTIVATE, KILL, ROLLBACK } from "./command-activate.ts";
import { EXPLAIN, FORGET, LOOK_UP } from "./command-clients.ts";
import { AUTOPILOT } from "./autopilot.ts";
import { COMPILE, MARKER_RULE } from "./command-compile.ts";
import { COST } from "./command-cost.ts";
import { DASHBOARD } from "./command-dashboard.ts";
import { DIFF, LIST, PUSH, SHOW, VALIDATE } from "./command-versions.ts";
import { DOCTOR } from "./command-doctor.ts";
import { PROPOSE, RESULTS } from "./command-results.ts";
import { AUDIT, HISTORY, STATUS } from "./command-status.ts";
import { STATS } from "./command-stats.ts";
import { TOKEN } from "./command-token.ts";

/** Runs one command line. Returns the exit code. It does not reject for faults that its user can mend. */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  // Read here, as the rest of the line may be unreadable.
  const isJson = argv.includes("--json");
  try {
    refuseEaten(io.env);
    const { json, text, isVerbatim = false, exitCode = EXIT.done } = await resultOf(argv, io);
    const shown = isVerbatim ? text : wrapped(text, columnsOf(io, io.stdout));
    io.stdout.write(`${isJson ? JSON.stringify(json, undefined, 2) : shown}\n`);
    return exitCode;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (isJson) io.stdout.write(`${JSON.stringify(failureJson(error), undefined, 2)}\n`);
    else io.stderr.write(`${wrapped(failureText(error), columnsOf(io, io.stderr))}\n`);
    return error.exitCode;
  }
}

async function resultOf(argv: readonly string[], io: Io): Promise<Result> {
  const {
    words: [name, ...words],
    options,
  } = readLine(argv);
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
    throw new Failure(EXIT.usage, `${tooMany(words[max])}It is: ${command.name} ${command.usage}`.trim());
  const result = await command.run({
    words,
    options,
    io,
    api: async () => {
      const { connect } = await import("./api.ts");
      return connect(findEndpoint(options, io));
    },
    columns: columnsOf(io, io.stdout),
    print: (text) => {
      if (options.json !== true) io.stdout.write(`${wrapped(text, columnsOf(io, io.stdout))}\n`);
    },
  });
  keep(command.name, argv, result, io);
  return result;
}

function tooMany(word: string | undefined): string {
  return word === undefined ? "" : `${JSON.stringify(word)} is one too many. `;
}

/** Keeps an answer that the dashboard shows. The answer itself does not fail by it. */
function keep(name: string, argv: readonly string[], { text }: Result, io: Io): void {
  const kept = KEPT_COMMANDS.find((one) => one === name);
  if (kept === undefined) return;
  try {
    const command = `npm run policy -- ${argv.join(" ")}`;
    keepAnswer(stateFolder(io), kept, { command, atMs: io.nowMs(), text: wrapped(text, columnsOf(io, io.stdout)) });
  } catch (error) {
    io.stderr.write(`The dashboard will not show this answer: ${(error as Error).message}\n`);
  }
}

const RUN = "npm run --silent policy --";

/** Finds a command by its name. @throws Failure that says which command was meant */
function commandOf(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const names = COMMANDS.map((candidate) => candidate.name);
  throw misused(`There is no command ${JSON.stringify(name)}${nearest(name, names) || "."} \`help\` lists them.`);
}

/** What one command does and takes. */
export function commandHelp({ name, usage, summary, details }: Command): string {
  return [
    `${RUN} ${name} ${usage}`.trim(),
    "",
    summary,
    ...(details === undefined ? [] : ["", inParagraphs(details)]),
  ].join("\n");
}

/** Source is written in lines; a line that does not begin with a space goes on with the one before. */
function inParagraphs(lines: string): string {
  return lines.replaceAll(/(?<=\S)\n(?=\S)/g, " ");
}

/** The command line at a glance. */
export function overview(): string {
  const summaries = Object.fromEntries(COMMANDS.map(({ name, summary }) => [name, summary]));
  return inParagraphs(`Reads and changes the policy by which adaptive-h3 advertises HTTP/3.

  ${RUN} <command>

${nameList({ ...summaries, help: "Say more about a command: help activate." }).replaceAll(/^/gm, "  ")}

Every command takes
  --json             one JSON document on stdout, errors too: {"error":{status,title,detail,faults}}
  --url URL          the server (H3_URL)
  --token-file FILE  the file with the token (H3_TOKEN_FILE; or the token itself in H3_TOKEN)
  --ca FILE          a root certificate to trust besides the usual ones, PEM (H3_CA)

Without --url and H3_URL the server is the one of \`npm start\`: https://localhost:8443 (PORT), with
the token and the certificate in .adaptive-h3 (STATE_DIR). A token is never an argument, as ps shows
arguments. The program sends a call only once, and waits 10 s for the answer.

Ends with
  0  done
  1  the policy is not valid, two policies differ, or the server refuses the call
  2  the command line means nothing, or nobody said yes
  3  no token, or a token that may not do this (401, 403, 429)
  4  somebody else changed the activation meanwhile (412)
  5  the server cannot be reached, or does not answer properly
  6  what was asked cannot be told

Lines are as wide as the terminal, or as COLUMNS says. In a pipe and in a file a row is one line.`);
}

/** In the order in which a policy goes into force. */
export const COMMANDS: readonly Command[] = [
  VALIDATE,
  DIFF,
  COMPILE,
  MARKER_RULE,
  PUSH,
  LIST,
  SHOW,
  ACTIVATE,
  STATUS,
  HISTORY,
  AUDIT,
  ROLLBACK,
  KILL,
  STATS,
  DASHBOARD,
  RESULTS,
  PROPOSE,
  AUTOPILOT,
  EXPLAIN,
  LOOK_UP,
  FORGET,
  TOKEN,
  DOCTOR,
  COST,
];
