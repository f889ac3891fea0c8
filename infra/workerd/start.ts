import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readSettings } from "../../worker/settings.ts";
import { buildEdge, buildWorker, EDGE_PROGRAM, ROOT } from "../setup/build.ts";
import { requireGo, UserError } from "../setup/programs.ts";
import { runMain } from "../setup/run-main.ts";
import { DECISION_HEADINGS, decisionText, parseDecisionLine } from "./decision-text.ts";
import { startDemoOrigin } from "./demo-origin.ts";
import { callApi } from "./policy-client.ts";
import { startSystem, type System, type SystemOptions } from "./system.ts";

/** What may be set in the environment of `npm start`, beside the worker's own variables. */
const { PORT = "8443", STATE_DIR = join(ROOT, ".adaptive-h3"), ORIGIN, BUDGET_MS, OBJECTS_PER_REGION } = process.env;

async function main(): Promise<void> {
  // From the beginning: whoever presses Ctrl-C while all is being started wants all ended too.
  const interrupted = untilSignal();
  const port = readVariables();
  const stateDir = resolve(STATE_DIR);
  const token = readOrMakeToken(stateDir);
  requireGo();
  console.log("Building the worker and the edge ...");
  buildWorker();
  buildEdge();
  const demo = ORIGIN === undefined ? await startDemoOrigin() : undefined;
  let system: System | undefined;
  try {
    system = await start({
      edgeProgram: EDGE_PROGRAM,
      stateDir,
      origin: ORIGIN ?? demo?.url ?? "",
      // The edge's own default is localhost:8443, on IPv4 and, where the machine has it, IPv6.
      listen: [`localhost:${port}`],
      token,
      variables: {
        LOG_DECISIONS: "on",
        ...(BUDGET_MS === undefined ? {} : { BUDGET_MS }),
        ...(OBJECTS_PER_REGION === undefined ? {} : { OBJECTS_PER_REGION }),
      },
      onWorkerLine: (line) => {
        const decision = parseDecisionLine(line);
        console.log(decision === undefined ? line : decisionText(decision));
      },
    });
    await putFirstPolicy(system, token);
    console.log(welcome(system, port, stateDir));
    const why = await Promise.race([system.failed, interrupted]);
    if (why !== undefined) throw new UserError(why);
  } finally {
    await system?.stop();
    await demo?.stop();
  }
}

/** @throws UserError */
async function start(options: SystemOptions): Promise<System> {
  try {
    return await startSystem(options);
  } catch (error) {
    // The edge speaks of its own flags; here the port has another name.
    if (error instanceof UserError && error.message.includes("is in use"))
      throw new UserError(`Port ${PORT} is in use: stop the program that has it, or set PORT to another.`);
    throw error;
  }
}

/** A bad variable stops the start with its name. @throws UserError */
function readVariables(): number {
  const { faults } = readSettings({
    ...(ORIGIN === undefined ? {} : { ORIGIN }),
    ...(BUDGET_MS === undefined ? {} : { BUDGET_MS }),
    ...(OBJECTS_PER_REGION === undefined ? {} : { OBJECTS_PER_REGION }),
  });
  const port = /^\d{1,5}$/.test(PORT) ? Number(PORT) : 0;
  if (port < 1 || port > 65_535) faults.push({ name: "PORT", message: "must be a whole number from 1 to 65535" });
  if (faults.length > 0)
    throw new UserError(faults.map(({ name, message }) => `The variable ${name} ${message}.`).join("\n"));
  return port;
}

/** The API's token of this folder: made once, readable by its owner only. @throws UserError */
function readOrMakeToken(stateDir: string): string {
  const file = join(stateDir, "token");
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
    chmodSync(file, 0o600);
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UserError(
      `The folder ${stateDir} cannot be written (${(error as Error).message}): set STATE_DIR to one that can.`,
    );
  }
}

/** A new store begins in observe, as it should; a demonstration begins with the published figures. */
async function putFirstPolicy(system: System, token: string): Promise<void> {
  const { json } = await callApi(system.workerd.visitorsSocket, token, "GET", "policy");
  if ((json as { version?: number }).version !== 0) return;
  const published: unknown = JSON.parse(readFileSync(join(ROOT, "policy-api/policies/published.json"), "utf8"));
  const put = await callApi(system.workerd.visitorsSocket, token, "PUT", "policy", published);
  if (put.status !== 200) throw new UserError(`The first policy was refused: ${JSON.stringify(put.json)}`);
}

function welcome(system: System, port: number, stateDir: string): string {
  const site = `https://localhost:${port}`;
  const curl = `curl -s --cacert ${join(stateDir, "dev-cert.pem")}`;
  return `
adaptive-h3 runs on ${system.addresses.join(" and ")}.

  Open     ${site}/   (the certificate is this machine's own: a browser asks once)
  A browser that trusts it, over HTTP/3 too:
           chromium --user-data-dir=$(mktemp -d) --ignore-certificate-errors-spki-list=${system.spkiSha256} \\
             --enable-quic --origin-to-force-quic-on=localhost:1 ${site}/
  Try      ${curl} -D - -o /dev/null -H 'Accept: text/html' ${site}/ | grep -i alt-svc
           ${curl} -H "Authorization: Bearer $(cat ${join(stateDir, "token")})" ${site}/_h3/v1/policy
  On a clean local path HTTP/2 is faster: the first page is offered HTTP/3 (cold start), the next takes it back (clear).
  Ctrl-C ends everything.

${DECISION_HEADINGS}`;
}

/** Resolves at Ctrl-C, or when whoever started this asks it to end. */
function untilSignal(): Promise<undefined> {
  return new Promise((resolveSignal) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolveSignal(undefined));
  });
}

await runMain(main);
