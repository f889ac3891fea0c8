import { build } from "esbuild";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Activation } from "../api/contract/policies.ts";
import { HOURS_KEPT } from "../api/counters/counted.ts";
import { jsonDiff } from "../decision/json-diff.ts";
import { parsePolicy } from "../decision/policy.ts";
import type { Api } from "./api.ts";
import { parseJson } from "./client.ts";
import { knownText } from "./command-clients.ts";
import { differencesText } from "./command-versions.ts";
import type { DashboardData, Part } from "./dashboard-page/data.ts";
import { explanationText } from "./explanation-text.ts";
import { EXIT, Failure, failureText } from "./failure.ts";
import { fromServer, readable } from "./named-policy.ts";
import { resultsPicture } from "./results-picture.ts";

const PAGE = join(import.meta.dirname, "dashboard-page");
/** The page's requests have a policy at most. */
const BODY_MAX_BYTES = 200_000;
/** Of what the page shows as text. */
const COLUMNS = 100;
const HOURS_DEFAULT = 24;
/** Its number is left out of the name (RFC 9110, section 4.2.1). */
const HTTP_PORT = 80;
/** Where it is unless somebody says otherwise. */
export const DASHBOARD_PORT = 8_480;
/** Of the site's own: nothing of it may be shown in another page, and it may load nothing from elsewhere. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export interface Dashboard {
  readonly url: string;
  stop(): Promise<void>;
}

interface Reply {
  readonly status?: number;
  readonly type: string;
  readonly body: string;
}

/**
 * Serves the dashboard on this machine's own address. The token stays in this process: the page has none, and can only read.
 *
 * @param port 0: any that is free
 * @throws Failure where the port is in use
 */
export async function startDashboard(api: Api, port: number, nowMs: () => number): Promise<Dashboard> {
  const files = await pageFiles();
  let own: readonly string[] = [];
  const server = createServer((request, response) => {
    void answer(request).then(
      (reply) => send(response, reply),
      (error: unknown) => send(response, failed(error)),
    );
  });
  const answer = async (request: IncomingMessage): Promise<Reply> => {
    // A page of another site may have a name that leads here (DNS rebinding); its requests name themselves.
    if (!own.includes(request.headers.host ?? "")) return refused(421, "This server is asked by another name.");
    const site = request.headers["sec-fetch-site"] ?? "none";
    if (site !== "same-origin" && site !== "none") return refused(403, "Only this server's own page may ask.");
    const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
    const file = files.get(url.pathname);
    if (file !== undefined && request.method === "GET") return file;
    const call = CALLS[`${request.method ?? ""} ${url.pathname}`];
    if (call === undefined) return refused(404, "There is nothing here.");
    const body = request.method === "POST" ? await bodyOf(request) : undefined;
    return call(api, { url, body, nowMs: nowMs() });
  };
  await listen(server, port);
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

interface DashboardCall {
  readonly url: URL;
  readonly body: unknown;
  readonly nowMs: number;
}

const CALLS: Readonly<Record<string, (api: Api, call: DashboardCall) => Promise<Reply>>> = {
  "GET /data": async (api, { url, nowMs }) => {
    const hours = Number(url.searchParams.get("hours") ?? HOURS_DEFAULT);
    if (!Number.isInteger(hours) || hours < 1 || hours > HOURS_KEPT)
      return refused(400, `hours must be from 1 to ${HOURS_KEPT}.`);
    return json(await dashboardData(api, hours, nowMs));
  },
  "GET /effect.svg": async (api) => ({
    type: "image/svg+xml",
    body: resultsPicture(await api.results(undefined)),
  }),
  "POST /client": async (api, { body }) => {
    const client = memberOf(body, "address");
    if (client === undefined) return refused(400, "An address is missing.");
    const record = await api.lookUp("clients", client);
    // As if it came now, over the path that it last had.
    const [last] = (record.connections ?? []).toSorted((a, b) => a.ageMs - b.ageMs);
    const rtt = last?.rttMs === undefined ? {} : { rttMs: last.rttMs };
    const explanation = await api.explain({ request: { transport: "tcp", path: "/", ...rtt }, client });
    return json({
      known: record.known ? knownText(record, "clients", COLUMNS) : "Nothing is known of it.",
      answer: explanationText(explanation, true),
    });
  },
  "POST /diff": async (api, { body }) => {
    const pasted = memberOf(body, "policy");
    if (pasted === undefined) return refused(400, "A policy is missing.");
    const parsed = parsePolicy(parseJson(pasted));
    if (!parsed.ok) {
      const faults = parsed.faults.map(({ pointer, message }) => `${pointer || "the whole policy"}: ${message}`);
      return json({ text: ["This is no valid policy.", ...faults].join("\n") });
    }
    const { activation } = await api.activation();
    const stored = readable(await api.version(activation.everyone));
    const before = fromServer(stored.policy, `version ${stored.version}`);
    if (jsonDiff(before, parsed.value).length === 0)
      return json({ text: `This is version ${stored.version}, which everyone has.` });
    const differences = differencesText(before, parsed.value, { path: "/" }, COLUMNS);
    return json({ text: `Version ${stored.version} -> this policy:\n\n${differences}` });
  },
};

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

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (request.headers["content-type"] !== "application/json") return undefined;
  // A body of unknown length could be one without end.
  if (!(Number(request.headers["content-length"] ?? Number.NaN) <= BODY_MAX_BYTES)) return undefined;
  return parseJson(await text(request));
}

function memberOf(body: unknown, name: string): string | undefined {
  const value =
    typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

function json(value: unknown): Reply {
  return { type: "application/json; charset=utf-8", body: JSON.stringify(value) };
}

function refused(status: number, sentence: string): Reply {
  return { status, type: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

function failed(error: unknown): Reply {
  if (error instanceof Failure) return refused(502, failureText(error));
  return refused(500, "The dashboard failed inside.");
}

function send(response: ServerResponse, { status = 200, type, body }: Reply): void {
  response.writeHead(status, { ...HEADERS, "content-type": type }).end(body);
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    const isUsed = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    throw new Failure(
      EXIT.refused,
      isUsed
        ? `Port ${port} is in use: choose another one with --port.`
        : `Port ${port} cannot be used: ${String(error)}`,
    );
  }
}

/** Asks for all of it at a time. A part that fails says so, and the others are shown. */
async function dashboardData(
  api: Pick<Api, "origin" | "health" | "activation" | "version" | "stats" | "results">,
  hours: number,
  atMs: number,
): Promise<DashboardData> {
  const activation = partOf(api.activation().then((reply) => reply.activation));
  const [health, inForce, policy, stats, results] = await Promise.all([
    partOf(api.health().then((reply) => reply.json())),
    activation,
    partOf(policyOf(api, activation)),
    partOf(api.stats(hours)),
    partOf(api.results(undefined)),
  ]);
  return { origin: api.origin, atMs, hours, health, activation: inForce, policy, stats, results };
}

async function policyOf(api: Pick<Api, "version">, activation: Promise<Part<Activation>>): Promise<unknown> {
  const inForce = await activation;
  if ("fault" in inForce) throw new Error(inForce.fault);
  return (await api.version(inForce.value.everyone)).policy;
}

async function partOf<T>(asked: Promise<T>): Promise<Part<T>> {
  try {
    return { value: await asked };
  } catch (error) {
    if (error instanceof Failure) return { fault: [error.message, error.details.detail].filter(Boolean).join(" ") };
    return { fault: error instanceof Error ? error.message : "It cannot be told." };
  }
}
