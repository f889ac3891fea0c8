import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Count, getExtent, getHealth, getMetrics, getProbe, getStats, PROBE_MA_S } from "./contract/deployment.ts";
import type { ActivePolicy } from "../decision/activation.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import type { PolicyApiPorts, StoreState } from "./ports.ts";
import { silentText } from "./policies.ts";
import { type Advertise, altSvcValue } from "../decision/alt-svc.ts";
import { matchStack, type Stack } from "../decision/stack.ts";
import { type Counted, HOUR_MS } from "./counters/counted.ts";
import { extentOf } from "./counters/extent.ts";
import { readKey } from "./counters/families.ts";
import { type Gauge, METRICS_TYPE, metricsText } from "./counters/metrics-text.ts";

export function addHealth(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(getHealth, async (c) => {
    const ports = c.get("ports");
    const { settingsFaults } = ports;
    const state = await ports.checkStore();
    const { activation } = state;
    const inForce = activation ? await ports.inForce() : undefined;
    const versions = inForce && [inForce.everyone, ...inForce.stages];
    const unread = activation === null ? [] : unreadable(versions);
    const stack = ports.servingStack(c.req.raw);
    const policy = activation === null ? "unreachable" : unread.length === 0 ? "ok" : "unreadable";
    const store = storeOf(state);
    const unstored = ports.unstoredKill.held();
    const kind = unstored?.kind ?? activation?.killSwitch ?? null;
    const http3 = ports.edgeHttp3();
    const problems = [
      ...unread,
      ...(store === "ok" ? [] : [STORE_PROBLEMS[store]]),
      ...(state.isSetAside ? [SET_ASIDE] : []),
      ...(unstored === undefined
        ? []
        : ["the kill switch is in force in memory only: the store could not take it yet"]),
      ...(ports.isOriginLost() ? [ORIGIN_LOST] : []),
      ...(http3 === "down" ? ["the TLS edge's HTTP/3 does not answer: nothing offers it meanwhile"] : []),
      ...settingsFaults.map(({ name, message }) => `the variable ${name} ${message}`),
    ];
    const healthy = problems.length === 0;
    return c.json(
      {
        status: healthy ? ("ok" as const) : ("degraded" as const),
        problems,
        warnings: ofOtherStacks(versions ?? [], stack),
        policy,
        store,
        revision: activation?.revision ?? null,
        killSwitch: kind && { kind, stored: unstored === undefined },
        http3,
        udpBuffers: ports.udpBuffers(),
        stack,
      },
      healthy ? 200 : 503,
    );
  });
}

const SET_ASIDE = "a database of what is known about clients could not be opened: it was set aside, and begins anew";

const ORIGIN_LOST =
  "the origin answered no request for a minute or longer, so nothing is decided: the worker's log says why";

const STORE_PROBLEMS = {
  unreachable: "the policy store does not answer",
  replaced: "the policy store is not the one that this deployment had: it was emptied or replaced",
  unwritable: "the policy store cannot be written: is the disk full?",
} as const;

function storeOf({ activation, isReplaced, takesWrites }: StoreState): "ok" | keyof typeof STORE_PROBLEMS {
  if (activation === null) return "unreachable";
  if (isReplaced) return "replaced";
  return takesWrites ? "ok" : "unwritable";
}

/** What of the policies in force cannot be read, and why: a sentence each. Their clients get no offers. */
function unreadable(inForce: readonly ActivePolicy[] | undefined): readonly string[] {
  if (inForce === undefined) return ["the policy in force cannot be read"];
  const silent = inForce.filter(({ policy }) => policy === undefined);
  return [...new Set(silent.map(silentText))];
}

/** Which of the policies in force were made for another stack than the one that serves: a sentence each. */
function ofOtherStacks(inForce: readonly ActivePolicy[], serving: Stack | null): string[] {
  const sentences = inForce.flatMap(({ version, policy }) => {
    const match = policy && matchStack(policy, serving);
    return match?.kind === "differs" ? [`version ${version} is in force and ${match.text}`] : [];
  });
  return [...new Set(sentences)];
}

const ANSWERS = {
  offer: { kind: "h3", maS: PROBE_MA_S },
  nothing: { kind: "nothing" },
  clear: { kind: "clear" },
} as const satisfies Record<string, Advertise>;

export function addProbe(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(getProbe), async (c) => {
    const { answer, actuator } = c.req.valid("query");
    const { header, ...known } = await c.get("ports").probe(c.req.raw, actuator);
    const port = Number(new URL(c.req.url).port) || 443;
    const value = altSvcValue(ANSWERS[answer], port) ?? null;
    if (value !== null) c.header(header, value);
    return c.json({ program: "adaptive-h3" as const, header, value, ...known }, 200);
  });
}

// What the deployment counted.

export function addStats(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(getStats), async (c) => {
    const { hours } = c.req.valid("query");
    const { tally, objects } = await c.get("ports").counters.read(hourOf(Date.now()) - hours + 1);
    const since = tally.sinceHour === undefined ? null : timeOf(tally.sinceHour);
    return c.json(
      {
        since,
        objects,
        totals: countsOf(tally.totals),
        hours: tally.hours.map(({ hour, counted }) => ({ at: timeOf(hour), counts: countsOf(counted) })),
      },
      200,
    );
  });

  api.openapi(guarded(getExtent), async (c) => {
    const { parts, asked } = await c.get("ports").counters.kept();
    const { rows, oldestAtMs, bytes } = extentOf(parts);
    const holding = parts.filter((part) => part.rows > 0).length;
    const oldest = oldestAtMs === undefined ? null : new Date(oldestAtMs).toISOString();
    return c.json({ objects: { asked, answered: parts.length, holding }, rows, oldest, bytes }, 200);
  });

  api.openapi(guarded(getMetrics), async (c) => {
    const ports = c.get("ports");
    const [{ tally, objects }, inForce] = await Promise.all([ports.counters.read(hourOf(Date.now())), gaugesOf(ports)]);
    const answered: Gauge = {
      name: "store_regions",
      help: "Regions of the store that hold counters, by whether they answered",
      values: [
        { labels: { answered: "yes" }, value: objects.answered },
        { labels: { answered: "no" }, value: objects.asked - objects.answered },
      ],
    };
    const totals = objects.answered < objects.asked ? undefined : tally.totals;
    return c.text(metricsText(totals, [...inForce, answered]), 200, { "content-type": METRICS_TYPE });
  });
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

function timeOf(hour: number): string {
  return new Date(hour * HOUR_MS).toISOString();
}

function countsOf(counted: Counted): Count[] {
  return Object.entries(counted)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, count]) => {
      const read = readKey(key);
      return read === undefined ? [] : [{ counter: read.family, labels: read.labels, count }];
    });
}

/** What is in force, for whoever watches. */
async function gaugesOf(ports: PolicyApiPorts): Promise<Gauge[]> {
  const [inForce, { takesWrites }] = await Promise.all([ports.inForce().catch(() => undefined), ports.checkStore()]);
  const one = (name: string, help: string, value: number): Gauge => ({ name, help, values: [{ labels: {}, value }] });
  const kill = ports.unstoredKill.held()?.kind ?? inForce?.killSwitch ?? null;
  return [
    one("store_writable", "Whether the policy store takes writes", Number(takesWrites)),
    one("kill_switch", "Whether the kill switch is on", Number(kill !== null)),
    ...(inForce === undefined
      ? []
      : [
          one("revision", "The revision of the activation in force", inForce.revision),
          {
            name: "version_share",
            help: "The share of clients that a version of the policy is in force for, on all paths or on some",
            values: [
              { labels: { version: String(inForce.everyone.version), stage: "everyone" }, value: 1 },
              ...inForce.stages.map(({ version, share }, i) => ({
                labels: { version: String(version), stage: String(i + 1) },
                value: share,
              })),
            ],
          },
        ]),
  ];
}
