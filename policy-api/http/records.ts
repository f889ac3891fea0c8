import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { estimateAt } from "../core/estimate.ts";
import type { Remembered } from "../core/history.ts";
import type { ApiEnv } from "./api.ts";
import { PathEstimate, Offers } from "./decision-schemas.ts";
import { Problem } from "./problem.ts";
import { nextPage } from "./links.ts";
import { guarded, jsonOf, problems } from "./routes.ts";
import { strict } from "./zod-faults.ts";
import * as schemas from "./schemas.ts";
import { auditView } from "./view.ts";

// What is known of clients and networks, and who changed what.

const body = { body: { ...jsonOf("", strict({ address: schemas.address }).openapi("Address")), required: true } };
const known = z.boolean().openapi({ description: "Whether anything is remembered" });

const ClientRecord = strict({
  known,
  client: PathEstimate.optional(),
  network: PathEstimate.optional(),
  asn: PathEstimate.optional(),
  offers: Offers.optional(),
}).openapi("ClientRecord");
const NetworkRecord = strict({ known, network: PathEstimate.optional() }).openapi("NetworkRecord");
const Forgotten = strict({ forgotten: z.int().min(0).openapi({ description: "Rows" }) }).openapi("Forgotten");

const about = (what: "clients" | "networks") => ({ method: "post" as const, tags: [what], request: body });

const lookUpClient = createRoute({
  operationId: "lookUpClient",
  ...about("clients"),
  ...guarded("read", "body"),
  path: "/clients/look-up",
  summary: "What is known of a client and of its network",
  responses: { 200: jsonOf("As it would be used now", ClientRecord), ...problems(413) },
});
const lookUpNetwork = createRoute({
  operationId: "lookUpNetwork",
  ...about("networks"),
  ...guarded("read", "body"),
  path: "/networks/look-up",
  summary: "What is known of an address's network: its /24 or /48",
  responses: { 200: jsonOf("As it would be used now", NetworkRecord), ...problems(413) },
});
const forgetClient = createRoute({
  operationId: "forgetClient",
  ...about("clients"),
  ...guarded("write", "body"),
  path: "/clients/forget",
  summary: "Delete what is known of a client",
  description: "Also what is still on its way to the store. The audit says that it was done, and not to whom.",
  responses: { 200: jsonOf("It is deleted", Forgotten), ...problems(413) },
});
const forgetNetwork = createRoute({
  operationId: "forgetNetwork",
  ...about("networks"),
  ...guarded("write", "body"),
  path: "/networks/forget",
  summary: "Delete what is known of a network as a whole",
  responses: { 200: jsonOf("It is deleted", Forgotten), ...problems(413) },
});

const audit = createRoute({
  operationId: "listAudit",
  method: "get",
  path: "/audit",
  tags: ["audit"],
  summary: "Who did what when, newest first",
  ...guarded("read"),
  request: { query: schemas.pageQuery },
  responses: {
    200: {
      ...jsonOf("A page", strict({ entries: z.array(schemas.AuditEntry), next: schemas.next }).openapi("Audit")),
      links: { nextPage: nextPage("listAudit") },
    },
    ...problems(),
  },
});

export function addRecords(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(lookUpClient, async (c) => {
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

  api.openapi(lookUpNetwork, async (c) => {
    const { network } = found(await c.get("ports").clients.lookUp(c.req.valid("json").address));
    const read = estimates({ network });
    return c.json({ known: read.network !== undefined, ...read }, 200);
  });

  for (const [route, what] of [
    [forgetClient, "client"],
    [forgetNetwork, "network"],
  ] as const)
    api.openapi(route, async (c) => {
      const { clients, store } = c.get("ports");
      const forgotten = found(await clients.forget(what, c.req.valid("json").address));
      await store.note(c.get("actor"), `${what}.forget`);
      return c.json({ forgotten }, 200);
    });

  api.openapi(audit, async (c) => {
    const { items, next } = await c.get("ports").store.audit(c.req.valid("query"));
    return c.json({ entries: items.map(auditView), next }, 200);
  });
}

function estimates(levels: Pick<Remembered, "client" | "network" | "asn">): {
  [L in "client" | "network" | "asn"]?: z.infer<typeof PathEstimate>;
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
