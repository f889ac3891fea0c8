import { readFileSync, writeFileSync, mkdtempSync, rmSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { arch, cpus, release, tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import autocannon, { type Request as LoadRequest } from "autocannon";
import { parseArgs } from "node:util";
import { INITIAL_POLICY } from "../policy-api/core/policy.ts";
import { buildWorker, ROOT } from "../infra/setup/build.ts";
import { UserError } from "../infra/setup/programs.ts";
import { callApi } from "../infra/workerd/policy-client.ts";
import { startWorkerd, type Workerd } from "../infra/workerd/workerd.ts";

const CLIENTS = 200;
const CONNECTIONS = 16;
const BODY = "x".repeat(10_000);
const TOKEN = "token-of-a-benchmark";

const PASS_THROUGH = `export default {
  fetch(request, env) {
    const url = new URL(request.url);
    url.host = env.ORIGIN;
    return fetch(new Request(url, request), { redirect: "manual" });
  },
};`;

interface Arm {
  readonly name: string;
  readonly workerd: Workerd;
  readonly requests: readonly LoadRequest[];
}

interface Reading {
  readonly cpuUsPerRequest: number;
  readonly requestsPerSecond: number;
}

/**
 * What this worker costs beside one that only passes on: CPU time of workerd per request (it counts the work, whatever
 * else the machine does meanwhile) and requests per second in a closed loop. Arms are interleaved in random order;
 * each figure is the median over rounds, its ratio to the pass-through of the same round beside it.
 */
export async function overhead(args: readonly string[]): Promise<void> {
  const values = readFlags(args);
  const rounds = positive("--rounds", values.rounds);
  const seconds = positive("--seconds", values.seconds);
  await buildWorker();
  const folder = mkdtempSync(join(tmpdir(), "h3-bench-"));
  const origin = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(BODY));
  origin.listen(0, "127.0.0.1");
  await once(origin, "listening");
  const running: Workerd[] = [];
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    const originHost = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const ours = async (name: string, policy: object): Promise<Workerd> => {
      const workerd = await startWorkerd({
        stateDir: join(folder, name),
        origin: `http://${originHost}`,
        token: TOKEN,
      });
      running.push(workerd);
      const put = await callApi(workerd.visitorsSocket, TOKEN, "PUT", "policy", policy);
      if (put.status !== 200) throw new UserError(`The policy was refused: ${JSON.stringify(put.json)}`);
      return workerd;
    };
    const published: object = JSON.parse(
      readFileSync(join(ROOT, "policy-api/policies/published.json"), "utf8"),
    ) as object;
    // An arm each: what one leaves to be flushed must not count as another's.
    const forAssets = await ours("adaptive-assets", published);
    const adaptive = await ours("adaptive", published);
    const fixedH3 = await ours("fixed-h3", { ...INITIAL_POLICY, mode: "fixed-h3" });
    const plain = await startPassThrough(folder, originHost);
    running.push(plain);
    const arms: Arm[] = [
      { name: "pass-through worker", workerd: plain, requests: visits("document") },
      { name: "subresource", workerd: forAssets, requests: visits("image") },
      { name: "navigation, fixed-h3", workerd: fixedH3, requests: visits("document") },
      { name: "navigation, adaptive", workerd: adaptive, requests: visits("document") },
    ];
    // Once unmeasured, so that code and caches are warm.
    for (const arm of arms) if (!interrupted) await measure(arm, seconds);
    const readings = new Map<string, Reading[]>(arms.map((arm) => [arm.name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const arm of shuffled(arms, round)) {
        if (interrupted) throw new UserError("\nInterrupted: nothing is saved.");
        readings.get(arm.name)?.push(await measure(arm, seconds));
      }
      process.stderr.write(`\rround ${round} of ${rounds}`);
    }
    process.stderr.write("\n");
    report(readings, rounds, seconds, values.save);
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    for (const workerd of running) await workerd.stop();
    origin.close();
    origin.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In an order drawn by a linear congruential generator (Numerical Recipes, 7.1), so that a round's order repeats. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  return items
    .map((item) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return { item, drawn: state };
    })
    .sort((a, b) => a.drawn - b.drawn)
    .map(({ item }) => item);
}

function readFlags(args: readonly string[]): { rounds: string; seconds: string; save: boolean } {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rounds: { type: "string", default: "15" },
        seconds: { type: "string", default: "1" },
        save: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown here: --rounds N, --seconds N, --save.`);
  }
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new UserError(`${flag} must be a whole number from 1.`);
  return value;
}

function visits(destination: string): LoadRequest[] {
  return Array.from({ length: CLIENTS }, (_, i) => ({
    path: "/page",
    headers: {
      host: "site.test",
      "sec-fetch-dest": destination,
      "cf-connecting-ip": `10.${i % 7}.${i}.1`,
      "mf-cf-blob": JSON.stringify({
        httpProtocol: "HTTP/2",
        clientTcpRtt: 20 + i,
        clientAcceptEncoding: "",
        adaptiveH3: { connectionId: `c${i}`, transport: "tcp", packetsSent: 1000, packetsLost: i % 30, bytesSent: 1e6 },
      }),
    },
  }));
}

async function measure(arm: Arm, seconds: number): Promise<Reading> {
  const beforeUs = cpuUs(arm.workerd.pid());
  const result = await autocannon({
    url: "http://site.test",
    socketPath: arm.workerd.visitorsSocket,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [...arm.requests],
  });
  if (result.errors > 0 || result.non2xx > 0)
    throw new UserError(`${arm.name}: ${result.errors + result.non2xx} failures`);
  return {
    cpuUsPerRequest: (cpuUs(arm.workerd.pid()) - beforeUs) / result["2xx"],
    requestsPerSecond: result["2xx"] / result.duration,
  };
}

/** CPU time that a process has used, user and system, microseconds; the kernel counts in ticks of 10 ms. */
function cpuUs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function startPassThrough(folder: string, originHost: string): Promise<Workerd> {
  const stateDir = join(folder, "pass-through");
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, "worker.js"), PASS_THROUGH);
  const config = join(stateDir, "config.capnp");
  const ours = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
  const compatibilityDate = /compatibilityDate = "(.*)"/.exec(ours)?.[1] ?? "";
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    ( name = "worker", worker = (
      modules = [ ( name = "worker.js", esModule = embed "worker.js" ) ], compatibilityDate = "${compatibilityDate}",
      bindings = [ ( name = "ORIGIN", text = "${originHost}" ) ] ) ),
    ( name = "state", disk = ( writable = true ) ),
    ( name = "internet", network = ( allow = ["private", "local", "public"] ) ) ],
  sockets = [
    ( name = "visitors", http = ( cfBlobHeader = "MF-CF-Blob" ), service = "worker" ),
    ( name = "samples", http = (), service = "worker" ) ] );
`,
  );
  return startWorkerd({ stateDir, origin: "", config });
}

function report(
  readings: ReadonlyMap<string, readonly Reading[]>,
  rounds: number,
  seconds: number,
  save: boolean,
): void {
  const base = [...readings.values()][0] ?? [];
  const rows = [...readings].map(([arm, list]) => ({
    arm,
    cpuUsPerRequest: spread(list.map((reading) => reading.cpuUsPerRequest)),
    cpuRatio: spread(list.map((reading, i) => reading.cpuUsPerRequest / (base[i]?.cpuUsPerRequest ?? Number.NaN))),
    requestsPerSecond: spread(list.map((reading) => reading.requestsPerSecond)),
    throughputRatio: spread(
      list.map((reading, i) => reading.requestsPerSecond / (base[i]?.requestsPerSecond ?? Number.NaN)),
    ),
  }));
  console.log(`${"".padEnd(24)}${"CPU us/request".padEnd(26)}${"ratio".padEnd(26)}${"requests/s".padEnd(26)}ratio`);
  const cell = ({ median, low, high }: Spread, digits: number): string =>
    `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`.padEnd(26);
  for (const row of rows)
    console.log(
      row.arm.padEnd(24) +
        cell(row.cpuUsPerRequest, 0) +
        cell(row.cpuRatio, 2) +
        cell(row.requestsPerSecond, 0) +
        cell(row.throughputRatio, 2),
    );
  console.log(`Median over ${rounds} rounds of ${seconds} s an arm, and the middle half of the rounds.`);
  if (!save) return;
  const file = join(ROOT, "bench/results/overhead.json");
  const machine = {
    cores: cpus().length,
    cpu: cpus()[0]?.model,
    arch: arch(),
    kernel: release(),
    node: process.version,
  };
  const { version } = createRequire(import.meta.url)("workerd/package.json") as { version: string };
  const command = `npm run bench -- overhead --rounds ${rounds} --seconds ${seconds} --save`;
  const bodyBytes = BODY.length;
  const summary = {
    command,
    workerd: version,
    machine,
    connections: CONNECTIONS,
    clients: CLIENTS,
    bodyBytes,
    rounds,
    seconds,
    rows,
  };
  mkdirSync(join(ROOT, "bench/results"), { recursive: true });
  writeFileSync(file, `${JSON.stringify(summary, undefined, 2)}\n`);
  console.log(`Saved in ${file}.`);
}

interface Spread {
  readonly median: number;
  /** The quartiles: the middle half lies between them. */
  readonly low: number;
  readonly high: number;
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return { median: at(0.5), low: at(0.25), high: at(0.75) };
}
