import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Stack } from "../decision/stack.ts";
import { adaptivePolicy } from "../decision/testing.ts";
import { BODY_MAX_BYTES } from "./json-body.ts";
import { apiDocument, CALLS, callApi, faultsOf, send, type TestPorts, testPorts, TOKENS } from "./testing.ts";

let ports: TestPorts;
beforeEach(async () => {
  ports = await testPorts();
});

const withBody = CALLS.filter(({ body }) => body !== undefined);

describe("every call", () => {
  it("of the document is tried here", async () => {
    const { paths } = await apiDocument(ports);
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace("/_h3/v1/", "")}`),
    );
    const tried = [...CALLS.map(({ method, template }) => `${method} ${template}`), "GET health"];
    expect(documented.toSorted()).toEqual(tried.toSorted());
  });

  it.each(CALLS)("$method $resource: $status", async ({ method, resource, status, ...options }) => {
    const reply = await callApi(ports, method, resource, options);
    expect([reply.status, reply.text]).toEqual([status, expect.any(String)]);
    const type = resource === "metrics" ? "text/plain; version=0.0.4; charset=utf-8" : "application/json";
    expect(reply.headers.get("content-type")).toBe(type);
  });

  it.each(CALLS.filter(({ method }) => method === "GET"))(
    "HEAD $resource is GET without its body",
    async ({ resource }) => {
      const get = await callApi(ports, "GET", resource);
      const head = await callApi(ports, "HEAD", resource);
      expect([head.status, head.text, head.headers.get("etag")]).toEqual([get.status, "", get.headers.get("etag")]);
    },
  );

  it.each(
    CALLS.filter(
      // The kill switch works without the store too, and a probe tells of it.
      ({ method, resource }) =>
        // These have nothing of the store of policies, or say so themselves.
        !/^((clients|networks)\/look-up|probe|stats|metrics)/.test(resource) &&
        `${method} ${resource}` !== "PUT activation/kill-switch",
    ),
  )(
    "$method $resource: 503 where the store does not answer, and nothing of why",
    async ({ method, resource, ...options }) => {
      ports.store.gone = true;
      const reply = await callApi(ports, method, resource, options);
      expect(reply.status).toBe(503);
      expect(ports.changes).toBe(0);
    },
  );

  it.each(CALLS)(
    "$method $resource: a query or a body that is not known is refused, or not looked at",
    async (call) => {
      const { method, resource, body, ...options } = call;
      if (body === undefined) {
        const reply = await callApi(ports, method, `${resource}${resource.includes("?") ? "&" : "?"}limt=5`, options);
        const isPage = ["policies", "activation/history", "audit"].includes(resource) && method === "GET";
        const fault = isPage
          ? "/query/limt: is not known here: limit?"
          : resource.startsWith("results")
            ? "/query/limt: is not known here; known: version"
            : resource === "stats"
              ? "/query/limt: is not known here; known: hours"
              : resource.startsWith("probe") && "/query/limt: is not known here; known: answer, actuator";
        expect([reply.status, faultsOf(reply)]).toEqual(fault === false ? [200, []] : [400, [fault]]);
      } else {
        const reply = await callApi(ports, method, resource, { ...options, body: { ...body, extra: 1 } });
        expect([reply.status, faultsOf(reply)[0]?.startsWith("/extra: is not known here; known: ")]).toEqual([
          400,
          true,
        ]);
      }
    },
  );
});

describe("a body", () => {
  it.each(withBody)(
    "$method $resource: none, no JSON, or not an object is a 400 that changes nothing",
    async (call) => {
      const { method, resource, body: _, status: __, ...options } = call;
      const before = await callApi(ports, "GET", "audit");
      for (const body of [undefined, "", "{", "policy=1", "[1", '{"a":1}}', "\u{feff}"]) {
        const reply = await callApi(ports, method, resource, { ...options, body });
        // Without a body all is left out, which here are values that by themselves may be.
        const isLeftOut = resource === "decisions/explain" && ["", undefined, "\u{feff}"].includes(body);
        expect([body, reply.status]).toEqual([body, isLeftOut ? 422 : 400]);
      }
      for (const body of ["null", "[]", "1", '"text"', "true"]) {
        const reply = await callApi(ports, method, resource, { ...options, body });
        expect([body, reply.status, faultsOf(reply)]).toEqual([body, 400, [": must be an object"]]);
      }
      expect((await callApi(ports, "GET", "audit")).json).toEqual(before.json);
      expect(ports.changes).toBe(0);
    },
  );

  it.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", ""])(
    "is JSON whatever Content-Type says: %j",
    async (type) => {
      for (const { method, resource, status, ...options } of withBody) {
        const fresh = await testPorts();
        const reply = await callApi(fresh, method, resource, { ...options, headers: { "content-type": type } });
        expect([resource, reply.status]).toEqual([resource, status]);
      }
    },
  );

  it.each(withBody)("$method $resource: is bounded in size, and may be nested as deep as it likes", async (call) => {
    const { method, resource, body: _, status: __, ...options } = call;
    const sent = async (body: string) => (await callApi(ports, method, resource, { ...options, body })).status;
    const filled = (bytes: number): string => `"${"x".repeat(bytes - 2)}"`;
    expect(await sent(filled(BODY_MAX_BYTES + 1))).toBe(413);
    expect(await sent(filled(BODY_MAX_BYTES))).toBe(400);
    // Of bytes, not of characters.
    expect(await sent(`"${"é".repeat(BODY_MAX_BYTES / 2)}"`)).toBe(413);
    const deep = "[".repeat(BODY_MAX_BYTES / 2 - 8) + "]".repeat(BODY_MAX_BYTES / 2 - 8);
    for (const body of [deep, `{"policy":${deep}}`]) expect(await sent(body)).toBe(400);
  });

  it.each([
    ["beside the fields", (names: object) => names],
    ["in the policy", (names: object) => ({ request: { transport: "tcp" }, policy: names })],
    ["in the facts", (names: object) => ({ request: names })],
  ])(
    "with 17,000 unknown names %s costs little: only the first 100 are compared with the known names",
    async (_, of) => {
      const names = Object.fromEntries(Array.from({ length: 17_000 }, (__, i) => [`reques${i}`, 1]));
      const compared = vi.spyOn(String.prototype, "toLowerCase");
      const reply = await callApi(ports, "POST", "decisions/explain", { body: of(names), token: TOKENS.read });
      const calls = compared.mock.calls.length;
      compared.mockRestore();
      expect([reply.status, faultsOf(reply).length]).toEqual([400, 100]);
      expect(reply.json["detail"]).toBe("the request is not valid (at most 100 faults are listed)");
      expect(calls).toBeLessThan(10_000);
    },
  );

  it.each([
    [BODY_MAX_BYTES + 1, 413],
    [100, 400],
  ])("that comes in pieces, of unknown length, is bounded alike: %i bytes", async (bytes, status) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let sent = 0; sent < bytes; sent += 10_000)
          controller.enqueue(new Uint8Array(Math.min(10_000, bytes - sent)).fill(0x20));
        controller.close();
      },
    });
    const request = new Request("https://site.test/_h3/v1/decisions", {
      method: "POST",
      headers: { authorization: `Bearer ${TOKENS.read}` },
      body,
    });
    const response = await send(ports, request);
    expect([response.status, response.headers.get("content-type")]).toEqual([status, "application/problem+json"]);
  });

  it("of whoever has no token counts for nothing, however long it is", async () => {
    for (const { method, resource, ifMatch } of withBody) {
      const reply = await callApi(ports, method, resource, {
        token: "",
        body: "x".repeat(BODY_MAX_BYTES + 1),
        ...(ifMatch === undefined ? {} : { ifMatch }),
      });
      expect([resource, reply.status]).toEqual([resource, 401]);
    }
  });
});

describe("what is not here", () => {
  it.each(["", "nothing", "policy", "policies/", "policies/1/diff", "activation/kill", "clients", "clients/look-up/1"])(
    "%j",
    async (resource) => {
      for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
        expect([method, (await callApi(ports, method, resource)).status]).toEqual([method, 404]);
    },
  );

  it("beside the version of the API", async () => {
    for (const path of ["/_h3/", "/_h3/v2/health", "/_h3/v1"]) {
      const response = await send(ports, new Request(`https://site.test${path}`));
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("cache-control")).toBe("no-store");
    }
  });

  it("another method: 405, and which there are", async () => {
    const { paths } = await apiDocument(ports);
    const described: Record<string, string[]> = {
      "/_h3/v1/openapi.json": ["GET"],
      "/_h3/v1/reference": ["GET"],
    };
    for (const [path, operations] of Object.entries(paths))
      described[path] = Object.keys(operations).map((method) => method.toUpperCase());
    for (const [path, methods] of Object.entries(described)) {
      const resource = path.replace("/_h3/v1/", "").replaceAll(/\{\w+\}/g, "1");
      const allowed = methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
      for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        if (allowed.includes(method)) continue;
        const reply = await callApi(ports, method, resource, { token: "" });
        expect([method, path, reply.status]).toEqual([method, path, 405]);
        expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(allowed.toSorted());
      }
    }
    expect(Object.keys(described)).toHaveLength(Object.keys(paths).length + 2);
  });
});

describe("scripts of other origins", () => {
  const origin = "https://console.example.com";
  const preflight = (from: string) =>
    send(
      ports,
      new Request("https://site.test/_h3/v1/activation", {
        method: "OPTIONS",
        headers: {
          origin: from,
          "access-control-request-method": "PUT",
          "access-control-request-headers": "authorization,if-match",
        },
      }),
    );

  it("may not call, unless told so", async () => {
    const response = await preflight(origin);
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([405, null]);
    for (const resource of ["health", "activation", "openapi.json"]) {
      const reply = await callApi(ports, "GET", resource, { headers: { origin } });
      expect([...reply.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it.each([
    [origin, true],
    ["https://other.example.com", true],
    ["https://evil.example", false],
    ["https://console.example.com.evil.example", false],
    ["http://console.example.com", false],
    ["null", false],
  ])("%s, where two are configured: %s", async (from, allowed) => {
    ports.corsOrigins = [origin, "https://other.example.com"];
    const response = await preflight(from);
    expect(response.headers.get("access-control-allow-origin")).toBe(allowed ? from : null);
    if (allowed) {
      expect(response.status).toBe(204);
      expect(response.headers.get("access-control-allow-methods")?.split(",")).toEqual(
        expect.arrayContaining(["GET", "PUT", "POST", "DELETE"]),
      );
      const headers = response.headers.get("access-control-allow-headers") ?? "";
      for (const name of ["authorization", "if-match", "if-none-match", "idempotency-key", "content-type"])
        expect(headers).toContain(name);
    }
    // Tokens are sent by scripts and not by browsers: no cookie is ever asked for.
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();

    // A refusal can be read as well as an answer.
    for (const [resource, token, status] of [
      ["activation", TOKENS.read, 200],
      ["activation", "", 401],
      ["policies/7", TOKENS.read, 404],
    ] as const) {
      const reply = await callApi(ports, "GET", resource, { token, headers: { origin: from } });
      expect(reply.status).toBe(status);
      expect(reply.headers.get("access-control-allow-origin")).toBe(allowed ? from : null);
      expect(reply.headers.get("vary")?.toLowerCase()).toContain("origin");
      if (allowed) expect(reply.headers.get("access-control-expose-headers")?.toLowerCase()).toContain("etag");
    }
  });
});

describe("health", () => {
  it.each([
    ["well", () => undefined, 200, "ok", "ok", 1],
    ["store gone", () => (ports.store.gone = true), 503, "degraded", "unreachable", null],
    ["activation unreadable", () => (ports.store.unreadable = true), 503, "degraded", "unreadable", null],
    ["policy in force unreadable", () => ports.store.unreadableVersions.add(1), 503, "degraded", "unreadable", 1],
    ["policy not in force unreadable", () => ports.store.unreadableVersions.add(0), 200, "ok", "ok", 1],
    ["bad variable", () => (ports.settingsFaults = [{ name: "EDGE", message: "must be x" }]), 503, "degraded", "ok", 1],
  ])("%s, whoever asks", async (_name, arrange, code, status, policy, revision) => {
    arrange();
    for (const token of ["", "wrong", TOKENS.read]) {
      const health = await callApi(ports, "GET", "health", { token });
      expect(health.status).toBe(code);
      expect(health.json).toMatchObject({ status, policy, revision });
      expect(health.json["problems"]).toHaveLength(code === 200 ? 0 : 1);
    }
    ports.tokens = [];
    expect((await callApi(ports, "GET", "health", { token: "" })).status).toBe(code);
  });

  const well = {
    status: "ok",
    problems: [],
    warnings: [],
    policy: "ok",
    store: "ok",
    revision: 1,
    killSwitch: null,
    http3: "unknown",
    udpBuffers: null,
    stack: null,
  };
  it.each<[string, () => void, object]>([
    ["all is well", () => undefined, well],
    ["HTTP/3 is served", () => (ports.http3 = "ok"), { ...well, http3: "ok" }],
    ["HTTP/3 is off", () => (ports.http3 = "off"), { ...well, http3: "off" }],
    [
      "buffers are small",
      () => (ports.buffers = { receiveBytes: 1, sendBytes: 2, wantedBytes: 3 }),
      { ...well, udpBuffers: { receiveBytes: 1, sendBytes: 2, wantedBytes: 3 } },
    ],
    [
      "the edge's UDP socket is dead",
      () => (ports.http3 = "down"),
      {
        ...well,
        status: "degraded",
        http3: "down",
        problems: ["the TLS edge's HTTP/3 does not answer: nothing offers it meanwhile"],
      },
    ],
    [
      "the origin does not answer",
      () => (ports.originLost = true),
      {
        ...well,
        status: "degraded",
        problems: [
          "the origin answered no request for a minute or longer, so nothing is decided: the worker's log says why",
        ],
      },
    ],
    [
      "the disk is full",
      () => (ports.takesWrites = false),
      {
        ...well,
        status: "degraded",
        store: "unwritable",
        problems: ["the policy store cannot be written: is the disk full?"],
      },
    ],
    [
      "the store was emptied",
      () => (ports.isReplaced = true),
      {
        ...well,
        status: "degraded",
        store: "replaced",
        problems: ["the policy store is not the one that this deployment had: it was emptied or replaced"],
      },
    ],
    [
      "a database was set aside",
      () => (ports.isSetAside = true),
      {
        ...well,
        status: "degraded",
        problems: ["a database of what is known about clients could not be opened: it was set aside, and begins anew"],
      },
    ],
    [
      "a kill switch is in memory",
      () => (ports.killed = { kind: "clear", author: "ann", note: null }),
      {
        ...well,
        status: "degraded",
        killSwitch: { kind: "clear", stored: false },
        problems: ["the kill switch is in force in memory only: the store could not take it yet"],
      },
    ],
  ])("says which part is not well: %s", async (_name, arrange, expected) => {
    arrange();
    expect((await callApi(ports, "GET", "health", { token: "" })).json).toEqual(expected);
  });

  it("names the stack that serves, and the policies in force that were made for another: all is well beside", async () => {
    const from = (congestionControl: string, quic: string) =>
      adaptivePolicy({ provenance: { stack: "s", congestionControl, quic, command: "c" } });
    const sent = [from("cubic", "quic-go"), from("bbr", "quiche-bbr2"), adaptivePolicy()];
    for (const policy of sent) await ports.store.create({ policy, author: "ann", note: null });
    const stages = [
      { version: 3, share: 0.1, pathPrefix: "/a/" },
      { version: 4, share: 0.1 },
      // Said once.
      { version: 3, share: 0.1 },
    ];
    await ports.store.change({ kind: "put", everyone: 2, stages }, { author: "ann", note: null, ifMatch: "*" });
    const warningsOn = async (stack: Stack | null) => {
      ports.stack = stack;
      const { status, json } = await callApi(ports, "GET", "health", { token: "" });
      expect([status, json]).toEqual([200, { ...well, revision: 2, stack, warnings: expect.any(Array) as string[] }]);
      return json["warnings"];
    };
    expect(await warningsOn({ tcp: "cubic", quic: "quic-go" })).toEqual([
      "version 3 is in force and was made for TCP with bbr beside quiche-bbr2, and TCP with cubic beside quic-go serves",
    ]);
    expect(await warningsOn({ tcp: "bbr", quic: "quic-go" })).toHaveLength(2);
    expect(await warningsOn({ tcp: "cubic", quic: null })).toHaveLength(1);
    expect(await warningsOn(null)).toEqual([]);
  });

  it("shows a kill switch that is stored", async () => {
    await callApi(ports, "PUT", "activation/kill-switch", { body: { kind: "fixed-h2" }, ifMatch: "*" });
    const health = await callApi(ports, "GET", "health");
    expect([health.status, health.json["killSwitch"]]).toEqual([200, { kind: "fixed-h2", stored: true }]);
  });
});
