import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { misused, nearest } from "./failure.ts";
import { nameList } from "./table.ts";

const RUN = "npm run --silent policy --";

/** Finds a command by its name. @throws Failure that says which command was meant */
export function commandOf(name: string): Command {
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

${indented(nameList({ ...summaries, help: "Say more about a command: help activate." }))}

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

function indented(lines: string): string {
  return lines.replaceAll(/^/gm, "  ");
}
