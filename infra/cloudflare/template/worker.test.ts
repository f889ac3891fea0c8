import { exports } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import cubic from "../policy-api/policies/cubic.json" with { type: "json" };

// The whole worker in workerd, as Cloudflare runs it. Your site is stubbed; change what it answers, and what is expected.

/** TOKEN's entry is in POLICY_TOKENS (vitest.config.ts). */
const TOKEN = "test";
const SITE = "https://www.example.com";

vi.stubGlobal("fetch", async () => new Response("<h1>A page</h1>", { headers: { "content-type": "text/html" } }));

/** A visitor opens the page, from so far away. */
async function visit(clientTcpRtt: number): Promise<Response> {
  const headers = { "sec-fetch-dest": "document", accept: "text/html", "cf-connecting-ip": "192.0.2.1" };
  return exports.default.fetch(new Request(SITE, { headers, cf: { httpProtocol: "HTTP/2", clientTcpRtt } as never }));
}

async function call(method: string, path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", "if-match": "*" };
  const reply = await exports.default.fetch(`${SITE}/_h3/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`);
  return reply;
}

it("passes a page on, and says nothing while it observes", async () => {
  const response = await visit(100);
  expect(await response.text()).toBe("<h1>A page</h1>");
  expect(response.headers.get("alt-svc")).toBeNull();
});

it("offers HTTP/3 to a distant visitor once a policy is active", async () => {
  const { version } = await (await call("POST", "policies", { policy: cubic })).json<{ version: number }>();
  await call("PUT", "activation", { everyone: version });
  // This isolate has changed what is in force itself. Others hear of it within 15 s.
  await vi.waitFor(async () => expect((await visit(100)).headers.get("alt-svc")).toBe('h3=":443"; ma=86400'), 20_000);
});
