import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { readSettings } from "../../worker/settings.ts";
import { ROOT } from "../../base/root.ts";
import { type Api, connect } from "../../policy-api/cli/api.ts";
import { DASHBOARD_PORT } from "../../policy-api/cli/command-dashboard.ts";
import { type Dashboard, startDashboard } from "../../policy-api/cli/dashboard-server.ts";
import { buildEdge, buildWorker, EDGE_PROGRAM } from "../setup/build.ts";
import { UserError } from "../../base/user-error.ts";
import { requireGo } from "../setup/programs.ts";
import { runMain } from "../../base/run-main.ts";
import { congestionText } from "./congestion-text.ts";
import { DECISION_HEADINGS, decisionText, parseDecisionLine } from "./decision-text.ts";
import { writeDemoConfig } from "./demo-config.ts";
import { DEMO_NAMES, DEMO_NETWORKS, EMULATED_PREFIX, emulatedPath, madeUpText } from "./demo-networks.ts";
import { startDemoOrigin } from "./demo-origin.ts";
import { demoAddress, INVENTED, isDemoVisitor, sendDemoVisitors } from "./demo-visitors.ts";
import { emulatedPolicy, firstPolicy, firstPolicyForVisitors } from "./first-policy.ts";
import { inForceLines } from "./in-force.ts";
import { lockFolder } from "./lock.ts";
import { measureLoopback } from "./measure-loopback.ts";
import { activatePolicy, callApi } from "./policy-client.ts";
import { startSystem, type System, type SystemOptions } from "./system.ts";

/** The variables of `npm start` itself. The worker's variables are below. */
const { PORT = "8443", STATE_DIR = join(ROOT, ".adaptive-h3"), POLICY_TOKENS } = process.env;
/** The variables by which the command line finds this start, if they are set: it knows the same two, and their usual values. */
const OWN = Object.entries({ PORT: process.env["PORT"], STATE_DIR: process.env["STATE_DIR"] && resolve(STATE_DIR) })
  .flatMap(([name, value]) => (value ? [`${name}=${quoted(value)} `] : []))
  .join("");
/** Those of the worker's variables that are set. */
const VARIABLES = Object.fromEntries(
  ["BUDGET_MS", "OBJECTS_PER_REGION", "API_ORIGINS", "ASSETS", "TELL_DECISIONS"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
/** If empty or not set, the demo site is the origin. */
const ORIGIN = process.env["ORIGIN"] || undefined;
const { DEMO_VISITORS: VISITORS_GIVEN = "" } = process.env;
/** Whether the demo site gets visitors who are not there. */
const DEMO_VISITORS = VISITORS_GIVEN === "on";
/** Of those visitors' decisions one is printed in this time, milliseconds: your own ones stay in sight. */
const PRINTED_EVERY_MS = 1_000;

async function main(): Promise<void> {
  const port = readVariables();
  const stateDir = resolve(STATE_DIR);
  const token = readOrMakeToken(stateDir);
  requireGo();
  const unlock = lockFolder(stateDir);
  // From here on a signal must end what was started, in order. Ctrl-C in a terminal arrives twice, because npm passes it on.
  const interruption = untilSignal();
  let demo: Awaited<ReturnType<typeof startDemoOrigin>> | undefined;
  let system: System | undefined;
  let dashboard: Dashboard | undefined;
  try {
    console.log("Building the worker and the edge ...");
    await buildWorker();
    if (!interruption.happened) await buildEdge();
    if (interruption.happened) return;
    demo =
      ORIGIN === undefined
        ? await startDemoOrigin(0, { hasVisitors: DEMO_VISITORS, dashboardUrl: () => dashboard?.url })
        : undefined;
    let printedAtMs = 0;
    const printed = new Set<number | undefined>();
    const demoDir = join(stateDir, DEMO_VISITORS ? "demo-visitors" : "demo");
    system = await start({
      edgeProgram: EDGE_PROGRAM,
      stateDir,
      origin: ORIGIN ?? demo?.url ?? "",
      // As the edge's default, localhost:8443: on IPv4, and on IPv6 if the machine has it.
      listen: [`localhost:${port}`],
      ...(demo === undefined
        ? {}
        : {
            // A folder for each of the demonstration's policies: a site of your own never meets one, nor does one the other.
            storeDir: demoDir,
            config: await writeDemoConfig(demoDir),
            // Its pages report the counters of their connections too, as they do on Cloudflare.
            edgeFlags: ["-server-timing=true"],
          }),
      token,
      tokens: POLICY_TOKENS,
      variables: { LOG_DECISIONS: "on", ...(demo === undefined ? {} : { TELL_DECISIONS: "on" }), ...VARIABLES },
      onRestart: (sentence) => console.error(sentence),
      onWorkerLine: (line) => {
        const decision = parseDecisionLine(line);
        if (decision !== undefined && isDemoVisitor(decision.request)) {
          // One network after the other: by the clock alone the same ones might come again and again.
          const { asn } = decision.request;
          if (Date.now() - printedAtMs < PRINTED_EVERY_MS || printed.has(asn)) return;
          printedAtMs = Date.now();
          printed.add(asn);
          if (printed.size === DEMO_NETWORKS.length) printed.clear();
        }
        const isThere = decision === undefined || !isDemoVisitor(decision.request);
        const madeUp = demo === undefined ? "" : madeUpText(decision?.request.asn, isThere);
        console.log(decision === undefined ? line : decisionText(decision) + madeUp);
      },
    });
    if (interruption.happened) return;
    // A site of your own starts in observe.
    if (demo !== undefined) {
      await putFirstPolicy(system, token);
      await measureLoopback(system.addresses, readFileSync(join(stateDir, "dev-cert.pem"), "utf8"));
    }
    const api = connectTo(port, token, stateDir);
    dashboard = await startOwnDashboard(api, stateDir);
    console.log(welcome(system, port, stateDir, dashboard, await inForceLines(api)));
    const visitors = new AbortController();
    const visiting =
      demo !== undefined && DEMO_VISITORS ? sendDemoVisitors(system.workerd, visitors.signal) : undefined;
    const why = await Promise.race([system.failed, interruption.promise]);
    visitors.abort();
    await visiting;
    if (why !== undefined) throw new UserError(why);
  } catch (error) {
    // A program that is being started may get the signal too, before it is in a process group of its own.
    if (!interruption.happened) throw error;
  } finally {
    await dashboard?.stop();
    await system?.stop();
    await demo?.stop();
    unlock();
  }
}

/** Starts the system. The edge's errors name its flags; here they name the variables of `npm start`. @throws UserError */
async function start(options: SystemOptions): Promise<System> {
  try {
    return await startSystem(options);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    if (error.message.includes("is in use"))
      throw new UserError(`Port ${PORT} is in use: stop the program that uses it, or set PORT to another port.`);
    if (error.message.includes("may not be used"))
      throw new UserError(`This user may not use port ${PORT}: set PORT to 1024 or more.`);
    if (error.message.includes(options.stateDir))
      throw new UserError(`${error.message}\nSet STATE_DIR to a folder that you can write.`);
    throw error;
  }
}

function connectTo(port: number, token: string, stateDir: string): Api {
  const caFile = join(stateDir, "dev-cert.pem");
  const ca = readFileSync(caFile, "utf8");
  return connect({ origin: `https://localhost:${port}`, token, ca, caFile, timeoutMs: 10_000 });
}

/** The dashboard, on its usual port or, if that is taken, on another one. Undefined if it cannot be served: the site is served all the same. */
async function startOwnDashboard(api: Api, stateFolder: string): Promise<Dashboard | undefined> {
  const demo = { note: DEMO_VISITORS ? INVENTED : NOBODY_COMES, networks: DEMO_NAMES };
  const begin = (port: number): Promise<Dashboard> =>
    startDashboard(api, { port, nowMs: Date.now, stateFolder, ...(ORIGIN === undefined ? demo : {}) });
  try {
    return await begin(DASHBOARD_PORT).catch(() => begin(0));
  } catch (error) {
    console.error(`There is no dashboard: ${(error as Error).message}`);
    return undefined;
  }
}

/** Checks the variables and returns the port. An invalid variable stops the start. @throws UserError */
function readVariables(): number {
  const { faults } = readSettings({
    ...(ORIGIN === undefined ? {} : { ORIGIN }),
    ...VARIABLES,
    ...(POLICY_TOKENS === undefined ? {} : { POLICY_TOKENS }),
  });
  const port = /^\d{1,5}$/.test(PORT) ? Number(PORT) : 0;
  if (port < 1 || port > 65_535) faults.push({ name: "PORT", message: "must be a whole number from 1 to 65535" });
  if (!["", "on", "off"].includes(VISITORS_GIVEN)) faults.push({ name: "DEMO_VISITORS", message: "must be on or off" });
  if (DEMO_VISITORS && ORIGIN !== undefined)
    faults.push({
      name: "DEMO_VISITORS",
      message: "is for the demo site alone: a site with an ORIGIN gets real visitors",
    });
  if (faults.length > 0)
    throw new UserError(faults.map(({ name, message }) => `The variable ${name} ${message}.`).join("\n"));
  return port;
}

/** The API's token for this folder: made once, and only its owner can read it. @throws UserError */
function readOrMakeToken(stateDir: string): string {
  const file = join(stateDir, "token");
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const kept = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
    if (kept !== "") return kept;
    const token = randomBytes(24).toString("base64url");
    writeFileSync(file, token, { mode: 0o600 });
    return token;
  } catch (error) {
    throw new UserError(
      `Cannot write the folder ${stateDir} (${(error as Error).message}): set STATE_DIR to a folder that you can write.`,
    );
  }
}

/** A new store starts in observe. For a demonstration, this activates policies calibrated for such a server. */
async function putFirstPolicy(system: System, token: string): Promise<void> {
  const { status, json } = await callApi(system.workerd.visitorsSocket, token, "GET", "activation");
  if (status !== 200) throw new UserError(`The policy store does not answer: ${JSON.stringify(json)}`);
  if ((json as { revision?: number }).revision !== 0) return;
  const policy = DEMO_VISITORS ? firstPolicyForVisitors() : firstPolicy(system.congestion[0] ?? "");
  const onPaths = { [EMULATED_PREFIX]: emulatedPolicy() };
  await activatePolicy(system.workerd.visitorsSocket, token, policy, onPaths, ({ source }) => source);
}

/** What the dashboard of a demonstration without them says. */
const NOBODY_COMES =
  "Nobody visits this demonstration but you. After DEMO_VISITORS=on npm start this shows within two minutes for which of invented visitors HTTP/3 is faster.";

const ABOUT_DEMO = `  On the page you can be decided as if on another network: pages below ${EMULATED_PREFIX} are (emulated).
  Where HTTP/3 is offered to a browser that was started so, its next page comes over it.
  In front of your own site, which it only observes at first: ORIGIN=http://127.0.0.1:3000 npm start
${
  DEMO_VISITORS
    ? `  All pages are decided as by a server whose TCP has cubic, also yours. Visitors who are not there come too. The networks and addresses are nobody's:
${DEMO_NETWORKS.map(({ asn, about }, client) => `           AS${asn}, such as ${demoAddress(client).address}   ${about}`).join("\n")}
  Within two minutes the dashboard shows on which networks HTTP/3 is faster. Of their decisions one in a second is printed here. To ask about one:
           ${OWN}npm run policy -- explain --client ${demoAddress(3).address} --rtt 38`
    : "  Start with DEMO_VISITORS=on, and invented visitors come too: within two minutes the dashboard shows on which networks HTTP/3 is faster."
}`;

function welcome(
  system: System,
  port: number,
  stateDir: string,
  dashboard: Dashboard | undefined,
  inForce: readonly string[],
): string {
  const site = `https://localhost:${port}`;
  const curl = `curl -sS --cacert ${quoted(join(stateDir, "dev-cert.pem"))}`;
  return `
adaptive-h3 runs on ${system.addresses.join(" and ")}, ${congestionText(system.congestion[0] ?? "")}

  Open     ${site}/
${dashboard === undefined ? "" : `  See      ${dashboard.url}   (the dashboard: what was decided and why)\n`}
  This machine made the certificate itself: a browser asks once. To start one that trusts it, over HTTP/3 too:
           chromium --user-data-dir=$(mktemp -d) --ignore-certificate-errors-spki-list=${system.spkiSha256} \\
             --enable-quic --origin-to-force-quic-on=localhost:1 ${site}/
  Try      ${curl} -D - -o /dev/null -H 'Accept: text/html' ${site}${somePage()}   (an offer is the header alt-svc; only pages are decided)
           ${OWN}npm run policy -- status   (in another terminal; see docs/operating.md, and ${site}/_h3/v1/reference for the API)
  In force ${inForce.join("\n           ")}
${ORIGIN === undefined ? `${ABOUT_DEMO}\n` : ""}  Ctrl-C ends everything.

${DECISION_HEADINGS}`;
}

/** A page that is offered HTTP/3: that of a distant network. A site of one's own has none that is sure to be. */
function somePage(): string {
  const distant = DEMO_NETWORKS.at(-1);
  return ORIGIN === undefined && distant !== undefined ? emulatedPath(distant, 1) : "/";
}

/** Quotes a text so that a shell takes it as one word. */
function quoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Resolves at Ctrl-C or another signal to end. Later signals change nothing. */
function untilSignal(): { promise: Promise<undefined>; readonly happened: boolean } {
  const interruption = { promise: Promise.resolve(undefined), happened: false };
  interruption.promise = new Promise((resolveSignal) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => {
        interruption.happened = true;
        resolveSignal(undefined);
      });
  });
  return interruption;
}

await runMain(main);
