import type { OpenAPIHono } from "@hono/zod-openapi";
import { listAudit } from "./contract/policies.ts";
import * as contract from "./contract/decisions.ts";
import type { History } from "./contract/decisions.ts";
import { historyAt, type Remembered } from "../decision/history.ts";
import { UPPER_LEVELS } from "../decision/mix.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { Problem } from "./problem.ts";

// What is known about clients and networks, and who changed what.

export function addRecords(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(contract.lookUpClient), async (c) => {
    const remembered = found(await c.get("ports").clients.lookUp(c.req.valid("json").address));
    const { offers } = remembered;
    // What the site's clients have is no knowledge of this one.
    const { site, ...read } = known(remembered);
    return c.json(
      {
        known: Object.keys(read).length > 0 || offers !== undefined,
        ...read,
        ...(site && { site }),
        ...(offers && { offers }),
      },
      200,
    );
  });

  api.openapi(guarded(contract.lookUpNetwork), async (c) => {
    const remembered = found(await c.get("ports").clients.lookUp(c.req.valid("json").address));
    // Without the client of this address: its network's record has it too.
    const { network } = known({ network: remembered.network });
    return c.json({ known: network !== undefined, ...(network && { network }) }, 200);
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
    return c.json({ entries: items, next }, 200);
  });
}

/** What is known now. Levels without clients are left out. */
function known(remembered: Remembered): Omit<History, "state"> {
  const { connections = [], ...levels } = historyAt(remembered, [], Date.now());
  return {
    ...(connections.length > 0 && { connections }),
    ...Object.fromEntries(
      UPPER_LEVELS.flatMap((level) => (levels[level]?.some((n) => n > 0) === true ? [[level, levels[level]]] : [])),
    ),
  };
}

function found<T>(answer: T | undefined): T {
  if (answer === undefined)
    throw Problem.ofFaults("the request is not valid", [
      { pointer: "/address", message: "must be an IPv4 or IPv6 address" },
    ]);
  return answer;
}
