import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { H2SPEC_PROGRAM, PLAIN_PROGRAM } from "../../setup/build.ts";
import { startProgram } from "../../workerd/processes.ts";
import { portOf, testFolder } from "../harness.ts";

/** One case of h2spec. */
export interface Case {
  /** What h2spec takes to run this case alone, such as `http2/6.5.3/1`. */
  readonly name: string;
  /** What h2spec said. Undefined if the case passed; a case that was skipped did not pass. */
  readonly failure?: string;
}

/** What a server did with all cases. */
export interface Outcome {
  readonly cases: readonly string[];
  readonly failures: readonly Case[];
  /** Cases that failed among all others, and then passed alone each time. */
  readonly flaky: readonly string[];
}

/** How often a case must pass alone before it counts as flaky and not as failed. */
const TIMES_ALONE = 3;

/** Runs all cases against the server at this port of the loopback address, and each that failed again, alone. */
export async function runH2spec(port: number): Promise<Outcome> {
  const cases = await run(port);
  const failures: Case[] = [];
  const flaky: string[] = [];
  for (const { name, failure } of cases) {
    if (failure === undefined) continue;
    let alone: string | undefined;
    for (let i = 0; i < TIMES_ALONE && alone === undefined; i++) alone = (await run(port, name))[0]?.failure;
    if (alone === undefined) flaky.push(`${name} (${failure})`);
    else failures.push({ name, failure: alone });
  }
  return { cases: cases.map(({ name }) => name), failures, flaky };
}

async function run(port: number, ...only: readonly string[]): Promise<Case[]> {
  const report = join(testFolder(), "junit.xml");
  const printed: string[] = [];
  const program = startProgram(H2SPEC_PROGRAM, {
    args: ["--tls", "--insecure", "--strict", "--port", String(port), "--junit-report", report, ...only],
    onLine: (line) => printed.push(line),
    onErrorLine: (line) => printed.push(line),
  });
  onTestFinished(() => program.stop());
  await program.ended;
  // h2spec writes none if it could not connect, or knows no such case.
  if (!existsSync(report)) throw new Error(`h2spec wrote no report:\n${printed.join("\n")}`);
  return casesOf(readFileSync(report, "utf8"));
}

/** Reads the report. It names sections; the cases of a section are numbered from 1. */
function casesOf(junit: string): Case[] {
  const numbers = new Map<string, number>();
  const found = junit.matchAll(
    /<testcase package="([^"]+)" classname="([^"]*)"[^>]*>(?:\s*<(failure|error|skipped)>(.*?)<\/\3>)?/gs,
  );
  return [...found].map(([, section = "", description = "", kind, said = ""]) => {
    const number = (numbers.get(section) ?? 0) + 1;
    numbers.set(section, number);
    const name = `${section}/${number}`;
    return kind === undefined ? { name } : { name, failure: `${description}: ${kind}: ${said}` };
  });
}

/** Starts the base line, net/http as it is, with the certificate of this folder. It ends with the test. Returns its port. */
export async function startPlain(stateDir: string): Promise<number> {
  const address = Promise.withResolvers<string>();
  const program = startProgram(PLAIN_PROGRAM, {
    args: ["-cert", join(stateDir, "dev-cert.pem"), "-key", join(stateDir, "dev-key.pem")],
    onLine: address.resolve,
    onErrorLine: () => undefined,
  });
  onTestFinished(() => program.stop());
  const ended = program.ended.then((why) => {
    throw new Error(`the plain server ended: ${why}`);
  });
  return portOf(await Promise.race([address.promise, ended]));
}
