import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Count, getExtent, getMetrics, getStats } from "./contract/stats.ts";
import { type Counted, HOUR_MS } from "./counters/counted.ts";
import { extentOf } from "./counters/extent.ts";
import { readKey } from "./counters/families.ts";
import { type Gauge, METRICS_TYPE, metricsText } from "./counters/metrics-text.ts";
import type { ApiEnv } from "./env.ts";
import { guarded } from "./guarded.ts";
import type { PolicyApiPorts } from "./ports.ts";

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
      return read === undefined ? [] : [{ counter: read.family, labels: { ...read.labels }, count }];
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
