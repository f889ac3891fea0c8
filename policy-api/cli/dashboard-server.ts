import { build } from "esbuild";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { HOURS_KEPT } from "../api/counters/counted.ts";
import { inForceText } from "./activation-text.ts";
import type { Api } from "./api.ts";
import type { DashboardData, Part } from "./dashboard-page/data.ts";
import { EXIT, Failure } from "./failure.ts";
import { lastAnswer } from "./last-answers.ts";
import { type NetworkNames, savedView } from "./results-text.ts";

const PAGE = join(import.meta.dirname, "dashboard-page");
/** Its number is left out of the name (RFC 9110, section 4.2.1). */
const HTTP_PORT = 80;
/** Of the site's own: nothing of it may be shown in another page, and it may load nothing from elsewhere. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export interface Dashboard {
  readonly url: string;
  stop(): Promise<void>;
}

export interface DashboardOptions {
  /** 0: any that is free. */
  readonly port: number;
  readonly nowMs: () => number;
  /** Where the command line keeps last answers. */
  readonly stateFolder: string;
  /** What the page says besides about what it shows, such as that its visitors are invented. */
  readonly note?: string | undefined;
  /** Those that whoever serves the page knows. */
  readonly networks?: NetworkNames | undefined;
}

interface Reply {
  readonly status?: number;
  readonly type: string;
  readonly body: string;
}

/**
 * Serves the dashboard on this machine's own address. The token stays in this process: the page has none, and can only read.
 *
 * @throws Failure where the port is in use
 */
export async function startDashboard(api: Api, options: DashboardOptions): Promise<Dashboard> {
  const files = await pageFiles();
  let own: readonly string[] = [];
  const answer = async ({ method, url: asked = "", headers }: IncomingMessage): Promise<Reply> => {
    // A page of another site may have a name that leads here (DNS rebinding); its requests name themselves.
    if (!own.includes(headers.host ?? "")) return refused(421, "This server is asked by another name.");
    const site = headers["sec-fetch-site"] ?? "none";
    if (site !== "same-origin" && site !== "none") return refused(403, "Only this server's own page may ask.");
    const [path = "", hours = "24"] = asked.split("?hours=");
    const file = method === "GET" ? files.get(path) : undefined;
    if (file !== undefined) return file;
    if (method !== "GET" || path !== "/data") return refused(404, "There is nothing here.");
    if (!/^\d{1,3}$/.test(hours) || Number(hours) < 1 || Number(hours) > HOURS_KEPT)
      return refused(400, `hours must be from 1 to ${HOURS_KEPT}.`);
    const body = JSON.stringify(await dashboardData(api, Number(hours), options));
    return { type: "application/json; charset=utf-8", body };
  };
  const server = createServer((request, response) => {
    void answer(request).then(({ status = 200, type, body }) =>
      response.writeHead(status, { ...HEADERS, "content-type": type }).end(body),
    );
  });
  await listen(server, options.port);
  const { port: at } = server.address() as AddressInfo;
  own = ["127.0.0.1", "localhost"].map((name) => (at === HTTP_PORT ? name : `${name}:${at}`));
  return {
    url: `http://127.0.0.1:${at}/`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The page's own files: its script as one, with the chart library in it. */
async function pageFiles(): Promise<ReadonlyMap<string, Reply>> {
  const bundled = await build({
    entryPoints: [join(PAGE, "main.ts")],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
  });
  const uplot = createRequire(import.meta.url).resolve("uplot/dist/uPlot.min.css");
  const own = (name: string): string => readFileSync(join(PAGE, name), "utf8");
  return new Map([
    ["/", { type: "text/html; charset=utf-8", body: own("index.html") }],
    ["/style.css", { type: "text/css; charset=utf-8", body: `${readFileSync(uplot, "utf8")}\n${own("style.css")}` }],
    ["/main.js", { type: "text/javascript; charset=utf-8", body: bundled.outputFiles[0]?.text ?? "" }],
  ]);
}

function refused(status: number, sentence: string): Reply {
  return { status, type: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

async function listen(server: Server, port: number): Promise<void> {
  await once(server.listen(port, "127.0.0.1"), "listening").catch((error: Error) => {
    throw new Failure(EXIT.refused, `Port ${port} cannot be used: choose another one with --port. ${error.message}`);
  });
}

/** Asks for all of it at a time. A part that fails says so, and the others are shown. */
async function dashboardData(
  api: Api,
  hours: number,
  { nowMs, stateFolder, note, networks }: DashboardOptions,
): Promise<DashboardData> {
  const atMs = nowMs();
  const answerOf = async (name: "doctor" | "cost") => lastAnswer(stateFolder, name);
  const activation = api.activation().then((reply) => reply.activation);
  const [health, inForce, everyone, stats, results, doctor, cost] = await Promise.all([
    partOf(api.health().then((reply) => reply.json())),
    partOf(activation.then((now) => inForceText(now, atMs))),
    partOf(activation.then((now) => api.version(now.everyone))),
    partOf(api.stats(hours)),
    partOf(api.results(undefined).then((one) => savedView(one, networks))),
    partOf(answerOf("doctor")),
    partOf(answerOf("cost")),
  ]);
  return { note, origin: api.origin, atMs, hours, health, inForce, everyone, stats, results, doctor, cost };
}

async function partOf<T>(asked: Promise<T>): Promise<Part<T>> {
  try {
    return { value: await asked };
  } catch (error) {
    const { message, details } = error as Failure;
    return { fault: [message, details?.detail].filter(Boolean).join(" ") };
  }
}
