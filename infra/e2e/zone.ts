import { once } from "node:events";
import { createServer, type IncomingMessage, request, type RequestOptions, type ServerResponse } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { testFolder } from "./harness.ts";

/** How a zone of Cloudflare may treat Alt-Svc, and what else it does between the TLS edge and the worker. */
export interface ZoneBehaviour {
  /** What it makes of an Alt-Svc of its own, `h3` for a day: not sent, in the place of every other one, or beside it. */
  readonly ownOffer?: "none" | "replace" | "append";
  /** On which responses: all, those that pass no worker, errors, or those of the worker alone. */
  readonly ownOfferOn?: "all" | "unrouted" | "errors" | "worker";
  /** Whether that comes before the rules, so that they may change it, or after them. */
  readonly ownOfferComes?: "before-rules" | "after-rules";
  /** Takes every Alt-Svc of a worker away, before the rules. */
  readonly strips?: boolean;
  /** Rules of the phase `http_response_headers_transform`, as its API takes them. */
  readonly rules?: string;
  /** Paths that no route leads through the worker. */
  readonly unrouted?: RegExp;
}

export interface Zone {
  /** Where the TLS edge sends requests (its -upstream). */
  readonly socket: string;
  /** Says where the zone sends them, once both are there. */
  leadsTo(worker: { readonly visitorsSocket: string }, origin: string): void;
  /** From now on it does this for a host. */
  treats(host: string, behaviour: ZoneBehaviour): void;
}

interface Rule {
  readonly expression: string;
  readonly action_parameters: { readonly headers: Readonly<Record<string, Change>> };
}
interface Change {
  readonly operation: "set" | "remove";
  readonly value?: string;
  readonly expression?: string;
}

/** The only condition that is understood: all responses. */
const EVERYTHING = 'http.request.version ne ""';
const HEADER_VALUE = /^http\.response\.headers\["([a-z0-9-]+)"\]\[0\]$/;

/**
 * Stands between the TLS edge and the worker, and does what a zone of Cloudflare may do. Which of it a zone really does is not
 * documented: so each behaviour is a switch. It ends with the test.
 */
export async function startZone(behaviour: ZoneBehaviour): Promise<Zone> {
  const socket = join(testFolder(), "zone");
  const usual = understood(behaviour);
  const hosts = new Map<string, Understood>();
  let targets: { readonly worker: RequestOptions; readonly origin: RequestOptions } | undefined;

  const pass = (asked: IncomingMessage, answer: ServerResponse): void => {
    const { method, url = "/", headers } = asked;
    const [host = "", port = "443"] = (headers.host ?? "").split(":");
    const it = hosts.get(host) ?? usual;
    const target = it.unrouted?.test(url) === true ? targets?.origin : targets?.worker;
    const sent = request({ ...target, method, path: url, headers }, (reply) => {
      const isOffered = {
        all: true,
        unrouted: target === targets?.origin,
        errors: (reply.statusCode ?? 0) >= 400,
        worker: target === targets?.worker,
      }[it.ownOfferOn ?? "all"];
      const lines = treated(linesOf(reply), isOffered ? `h3=":${port}"; ma=86400` : undefined, it);
      answer.writeHead(reply.statusCode ?? 502, lines.flat());
      reply.on("error", () => answer.destroy());
      reply.pipe(answer);
    });
    sent.on("error", () => answer.destroy());
    asked.pipe(sent);
  };
  const server = createServer(pass);
  server.listen(socket);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    socket,
    leadsTo: ({ visitorsSocket }, origin) => {
      const { hostname, port } = new URL(origin);
      targets = { worker: { socketPath: visitorsSocket }, origin: { hostname, port } };
    },
    treats: (host, change) => void hosts.set(host, understood(change)),
  };
}

type Understood = Omit<ZoneBehaviour, "rules"> & { readonly rules: readonly Rule[] };

function understood({ rules: text, ...behaviour }: ZoneBehaviour): Understood {
  const rules = text === undefined ? [] : (JSON.parse(text) as { rules: Rule[] }).rules;
  const unread = rules.find(({ expression }) => expression !== EVERYTHING);
  if (unread !== undefined) throw new Error(`The zone of the tests does not understand: ${unread.expression}`);
  return { ...behaviour, rules };
}

type Line = readonly [name: string, value: string];

function linesOf({ rawHeaders }: IncomingMessage): Line[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] ?? ""]] : []));
}

/** @param own The zone's own offer of this response. */
function treated(lines: readonly Line[], own: string | undefined, behaviour: Understood): Line[] {
  const { ownOffer = "none", ownOfferComes = "before-rules", strips = false, rules } = behaviour;
  const offered = (before: readonly Line[]): Line[] =>
    ownOffer === "none" || own === undefined
      ? [...before]
      : [...(ownOffer === "replace" ? without(before, "alt-svc") : before), ["alt-svc", own]];
  const arrived = strips ? without(lines, "alt-svc") : [...lines];
  const early = ownOfferComes === "before-rules" ? offered(arrived) : arrived;
  const ruled = rules.reduce((now, rule) => applied(now, rule), early);
  return ownOfferComes === "after-rules" ? offered(ruled) : ruled;
}

function applied(lines: readonly Line[], { action_parameters: { headers } }: Rule): Line[] {
  return Object.entries(headers).reduce<Line[]>(
    (now, [header, change]) => {
      const name = header.toLowerCase();
      const value = change.operation === "remove" ? undefined : valueOf(change, now);
      return [...without(now, name), ...(value === undefined ? [] : [[name, value] as const])];
    },
    [...lines],
  );
}

/** Undefined: an expression that has no value, which takes the header away. */
function valueOf({ value, expression = "" }: Change, lines: readonly Line[]): string | undefined {
  if (value !== undefined) return value;
  const name = HEADER_VALUE.exec(expression)?.[1];
  if (name === undefined) throw new Error(`The zone of the tests does not understand: ${expression}`);
  return lines.find(([its]) => its === name)?.[1];
}

function without(lines: readonly Line[], name: string): Line[] {
  return lines.filter(([its]) => its !== name);
}
