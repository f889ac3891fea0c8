import type { OpenAPIHono } from "@hono/zod-openapi";
import { historyAt } from "../decision/history.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import * as contract from "./contract/decisions.ts";
import { listAudit } from "./contract/policies.ts";
import { Problem } from "./problem.ts";

// What is known about clients, and who changed what.

export function addRecords(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(contract.lookUpClient), async (c) => {
    const remembered = found(await c.get("ports").clients.lookUp(c.req.valid("json").address));
    const { offers } = remembered;
    const { connections = [] } = historyAt(remembered, [], Date.now());
    return c.json(
      {
        known: connections.length > 0 || offers !== undefined,
        ...(connections.length > 0 && { connections }),
        ...(offers && { offers }),
      },
      200,
    );
  });

  api.openapi(guarded(contract.forgetClient), async (c) => {
    const { clients, store } = c.get("ports");
    const forgotten = found(await clients.forget(c.req.valid("json").address));
    await store.note(c.get("actor"), "client.forget");
    return c.json({ forgotten }, 200);
  });

  api.openapi(guarded(listAudit), async (c) => {
    const { items, next } = await c.get("ports").store.audit(c.req.valid("query"));
    return c.json({ entries: items, next }, 200);
  });
}

function found<T>(answer: T | undefined): T {
  if (answer === undefined)
    throw Problem.ofFaults("the request is not valid", [
      { pointer: "/address", message: "must be an IPv4 or IPv6 address" },
    ]);
  return answer;
}
