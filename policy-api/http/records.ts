import type { OpenAPIHono } from "@hono/zod-openapi";
import { listAudit } from "../contract/audit.ts";
import * as contract from "../contract/clients.ts";
import type { PathEstimate } from "../contract/decisions.ts";
import { estimateAt } from "../core/estimate.ts";
import type { Remembered } from "../core/history.ts";
import type { ApiEnv } from "./env.ts";
import { guarded } from "./guarded.ts";
import { Problem } from "./problem.ts";
import { auditView } from "./view.ts";

// What is known about clients and networks, and who changed what.

export function addRecords(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(contract.lookUpClient), async (c) => {
    const { client, network, asn, offers } = found(await c.get("ports").clients.lookUp(c.req.valid("json").address));
    const read = estimates({ client, network, asn });
    return c.json(
      {
        known: Object.keys(read).length > 0 || offers !== undefined,
        ...read,
        ...(offers && { offers: { ...offers, ignoredAtMs: [...offers.ignoredAtMs] } }),
      },
      200,
    );
  });

  api.openapi(guarded(contract.lookUpNetwork), async (c) => {
    const { network } = found(await c.get("ports").clients.lookUp(c.req.valid("json").address));
    const read = estimates({ network });
    return c.json({ known: read.network !== undefined, ...read }, 200);
  });

  for (const [route, what] of [
    [contract.forgetClient, "client"],
    [contract.forgetNetwork, "network"],
  ] as const)
    api.openapi(guarded(route), async (c) => {
      const { clients, store } = c.get("ports");
      const forgotten = found(await clients.forget(what, c.req.valid("json").address));
      await store.note(c.get("actor"), `${what}.forget`);
      return c.json({ forgotten }, 200);
    });

  api.openapi(guarded(listAudit), async (c) => {
    const { items, next } = await c.get("ports").store.audit(c.req.valid("query"));
    return c.json({ entries: items.map(auditView), next }, 200);
  });
}

function estimates(levels: Pick<Remembered, "client" | "network" | "asn">): {
  [L in "client" | "network" | "asn"]?: PathEstimate;
} {
  const nowMs = Date.now();
  return Object.fromEntries(
    Object.entries(levels).flatMap(([level, state]) => {
      const estimate = state === undefined ? undefined : estimateAt(state, nowMs);
      return estimate === undefined ? [] : [[level, estimate]];
    }),
  );
}

function found<T>(answer: T | undefined): T {
  if (answer === undefined)
    throw Problem.ofFaults("the request is not valid", [
      { pointer: "/address", message: "must be an IPv4 or IPv6 address" },
    ]);
  return answer;
}
