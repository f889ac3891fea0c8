import { beforeEach, describe, expect, it } from "vitest";
import published from "../policies/published.json" with { type: "json" };
import { INITIAL_POLICY, type Policy, type PolicyInForce } from "../core/policy.ts";
import { adaptivePolicy } from "../core/testing.ts";
import { createApi } from "./api.ts";
import type { PolicyApiPorts } from "./ports.ts";

class MemoryStore {
  inForce: PolicyInForce | undefined = { version: 0, policy: INITIAL_POLICY, earlierOffersUntilMs: 0 };
  gone = false;

  async current(): Promise<PolicyInForce | undefined> {
    if (this.gone) throw new Error("internal: address 10.1.2.3");
    return this.inForce;
  }

  async put(policy: Policy): Promise<PolicyInForce> {
    if (this.gone) throw new Error("internal: address 10.1.2.3");
    this.inForce = { version: (this.inForce?.version ?? 0) + 1, policy, earlierOffersUntilMs: 0 };
    return this.inForce;
  }
}

let store: MemoryStore;
let changes: number;
let settingsFaults: PolicyApiPorts["settingsFaults"];
const api = createApi<{ token: string | undefined }>((env) => ({
  store,
  token: env.token,
  policyChanged: async () => {
    changes++;
  },
  settingsFaults,
}));

beforeEach(() => {
  store = new MemoryStore();
  changes = 0;
  settingsFaults = [];
});

async function call(
  method: string,
  resource: string,
  options: { body?: unknown; token?: string; configured?: string | undefined } = {},
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const { body, token = "right", configured = "configured" in options ? options.configured : "right" } = options;
  const response = await api.request(
    `/_h3/v1/${resource}`,
    {
      method,
      headers: token === "" ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    },
    { token: configured },
  );
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  };
}

describe("policy", () => {
  it("is shown and changed", async () => {
    expect((await call("GET", "policy")).body).toEqual({ version: 0, policy: INITIAL_POLICY });
    const put = await call("PUT", "policy", { body: published });
    expect([put.status, put.body["version"]]).toEqual([200, 1]);
    expect(changes).toBe(1);
    expect((await call("GET", "policy")).body).toEqual({ version: 1, policy: published });
    expect(put.headers.get("cache-control")).toBe("no-store");
  });

  it("a policy that is not valid lists every fault and leaves the one in force", async () => {
    const put = await call("PUT", "policy", { body: { schema: 2, mode: "always", ma: { minS: 0 } } });
    expect(put.status).toBe(422);
    expect(put.headers.get("content-type")).toBe("application/problem+json");
    expect(put.body).toMatchObject({ status: 422, detail: "the policy is not valid; the one in force stays" });
    expect((put.body["faults"] as { pointer: string }[]).map((fault) => fault.pointer)).toEqual([
      "/mode",
      "/ma/minS",
      "/ma/maxS",
    ]);
    expect([store.inForce?.version, changes]).toEqual([0, 0]);
  });

  it.each([
    ["no JSON", "{", 400],
    ["no body", "", 400],
    ["too large a body", `"${"x".repeat(300_000)}"`, 413],
  ])("%s", async (_name, body, status) => {
    const put = await call("PUT", "policy", { body });
    expect([put.status, put.body["status"]]).toEqual([status, status]);
  });

  it("a store that is gone is a 503 that tells nothing of its inside", async () => {
    store.gone = true;
    for (const method of ["GET", "PUT"]) {
      const reply = await call(method, "policy", method === "PUT" ? { body: published } : {});
      expect(reply.status).toBe(503);
      expect(JSON.stringify(reply.body)).not.toContain("10.1.2.3");
    }
    expect(changes).toBe(0);
  });

  it("a stored policy that cannot be read can be replaced", async () => {
    store.inForce = undefined;
    expect((await call("GET", "policy")).status).toBe(503);
    expect((await call("PUT", "policy", { body: published })).status).toBe(200);
  });
});

describe("who may", () => {
  it.each([
    ["none given", "", 401],
    ["a wrong one", "wrong", 401],
    ["the beginning of the right one", "righ", 401],
  ])("%s: nothing is shown or changed", async (_name, token, status) => {
    for (const [method, resource] of [
      ["GET", "policy"],
      ["PUT", "policy"],
      ["POST", "explain"],
    ] as const) {
      const reply = await call(method, resource, { token, ...(method === "GET" ? {} : { body: published }) });
      expect(reply.status).toBe(status);
      expect(reply.headers.get("www-authenticate")).toContain("Bearer");
      expect(reply.headers.get("content-type")).toBe("application/problem+json");
    }
    expect(store.inForce?.version).toBe(0);
  });

  it("without a configured token the writing side is off, whatever is sent", async () => {
    for (const token of ["", "undefined", "right"]) {
      const put = await call("PUT", "policy", { body: published, token, configured: undefined });
      expect(put.status).toBe(403);
      expect(put.body["detail"]).toContain("POLICY_TOKEN");
      expect((await call("GET", "policy", { token, configured: undefined })).status).toBe(200);
    }
    expect(store.inForce?.version).toBe(0);
  });
});

describe("health", () => {
  it.each([
    ["well", () => undefined, 200, "ok", "ok"],
    ["store gone", () => (store.gone = true), 503, "degraded", "unreachable"],
    ["policy unreadable", () => (store.inForce = undefined), 503, "degraded", "unreadable"],
    ["bad variable", () => (settingsFaults = [{ name: "EDGE", message: "must be x" }]), 503, "degraded", "ok"],
  ])("%s", async (_name, arrange, code, status, policy) => {
    arrange();
    const health = await call("GET", "health", { token: "" });
    expect([health.status, health.body["status"], health.body["policy"]]).toEqual([code, status, policy]);
    expect(health.body["settings"]).toEqual(settingsFaults);
  });
});

describe("explain", () => {
  const request = { transport: "tcp", rttMs: 50 };
  const history = { state: "known", client: { quic: { lossRatio: 0.03, packets: 5000, deliveryRateBps: 25e6 } } };

  it("under the policy in force", async () => {
    expect((await call("POST", "explain", { body: { request } })).body).toMatchObject({
      policyVersion: 0,
      decision: { reason: "mode-observe" },
      altSvc: null,
    });
  });

  it("under a policy of its own: decision, predicted times, header", async () => {
    const body = { request, history, policy: published, port: 8443 };
    expect((await call("POST", "explain", { body })).body).toMatchObject({
      policyVersion: null,
      altSvc: 'h3=":8443"; ma=300',
      decision: {
        advertise: { kind: "h3", maS: 300 },
        reason: "h3-faster",
        basis: "client",
        path: { rttMs: 50 },
        predicted: { contentBytes: 10_000_000 },
      },
    });
    expect(store.inForce?.version).toBe(0);
  });

  it("takes every fact that a line of the decision log has", async () => {
    const read = { lossRatio: 0.05, packets: 5000, minRttMs: 40, deliveryRateBps: 25e6, ageMs: 1, changedMsAgo: 1000 };
    const facts = {
      ...request,
      path: "/a",
      asn: 64500,
      country: "JP",
      offerUntilMs: 5,
      offering: true,
      shareUnit: 0.5,
    };
    const known = { state: "known", client: { tcp: read, quic: read }, network: { tcp: read }, asn: { quic: read } };
    const explained = async (over: object) =>
      call("POST", "explain", {
        body: { request: { ...facts, ...over }, history: known, policy: published, nowMs: 9 },
      });
    expect(await explained({ pausedUntilMs: 0 })).toMatchObject({
      status: 200,
      // The path has only just changed: the offer is short.
      body: { altSvc: 'h3=":443"; ma=60', decision: { reason: "h3-faster", basis: "client" } },
    });
    expect((await explained({ pausedUntilMs: 10 })).body["decision"]).toMatchObject({
      reason: "udp-blocked",
      advertise: { kind: "nothing" },
    });
  });

  it.each([
    [{ kind: "share", share: 0.6 }, "share", 'h3=":443"; ma=10'],
    [{ kind: "share", share: 0.4 }, "share", null],
    [{ kind: "rtt-threshold", rttMs: 50 }, "h3-faster", 'h3=":443"; ma=10'],
    [{ kind: "zero-lines", lines: [{ deliveryRateBps: 1e6, rttMs: [0], lossRatio: [0] }] }, "cold-start", null],
  ] as const)("by another method: %j", async (method, reason, altSvc) => {
    const body = { request: { ...request, shareUnit: 0.5 }, policy: adaptivePolicy({ method }) };
    expect((await call("POST", "explain", { body })).body).toMatchObject({ altSvc, decision: { reason } });
  });

  it.each([
    [{}, ["/request"]],
    [{ request: { transport: "sctp" } }, ["/request/transport"]],
    [{ request, history: { state: "known", client: { tcp: { lossRatio: 2 } } } }, ["/history/client/tcp/lossRatio"]],
    [{ request: { ...request, shareUnit: 2 } }, ["/request/shareUnit"]],
    [{ request, policy: { ...adaptivePolicy(), ma: 5 } }, ["/policy/ma"]],
    [{ request, policy: { ...adaptivePolicy(), method: { kind: "share", share: 2 } } }, ["/policy/method/share"]],
    [{ request, address: "192.0.2.7" }, ["/address"]],
  ])("%j is refused with its faults", async (body, pointers) => {
    const reply = await call("POST", "explain", { body });
    expect(reply.status).toBe(422);
    expect((reply.body["faults"] as { pointer: string }[]).map((fault) => fault.pointer)).toEqual(pointers);
  });
});

describe("what is not here", () => {
  it.each([
    ["GET", "nothing", 404, null],
    ["DELETE", "policy", 405, "GET, HEAD, PUT"],
    ["GET", "explain", 405, "POST"],
    ["POST", "health", 405, "GET, HEAD"],
  ])("%s %s", async (method, resource, status, allow) => {
    const reply = await call(method, resource);
    expect(reply.status).toBe(status);
    expect(reply.headers.get("allow")).toBe(allow);
  });
});
