import { expect, it } from "vitest";
import { callApi, faultsOf, testPorts, TOKENS } from "./testing.ts";

const OFFER = 'h3=":443"; ma=60';

it.each([
  ["answer=offer", "alt-svc", OFFER],
  ["answer=clear", "alt-svc", "clear"],
  ["answer=nothing", "alt-svc", null],
  ["answer=offer&actuator=marker", "h3-advice", OFFER],
  ["answer=clear&actuator=marker", "h3-advice", "clear"],
  ["answer=nothing&actuator=marker", "h3-advice", null],
])("GET probe?%s has %s: %s", async (query, header, value) => {
  const { status, json, headers } = await callApi(await testPorts(), "GET", `probe?${query}`, { token: TOKENS.read });
  expect(status).toBe(200);
  expect(json).toMatchObject({ assets: { origin: "https://files.test", paths: ["/static/"] } });
  expect(json).toMatchObject({ program: "adaptive-h3", actuator: "header", header, value, edge: "cloudflare" });
  expect(headers.get(header)).toBe(value);
  expect(headers.get(header === "alt-svc" ? "h3-advice" : "alt-svc")).toBeNull();
});

it("answers nobody without a token, and names what it does not know", async () => {
  const ports = await testPorts();
  expect((await callApi(ports, "GET", "probe?answer=offer", { token: "" })).status).toBe(401);
  for (const query of ["", "?answer=maybe", "?answer=offer&actuator=smoke", "?answer=offer&more=1"]) {
    const reply = await callApi(ports, "GET", `probe${query}`, { token: TOKENS.read });
    expect([query, reply.status]).toEqual([query, 400]);
    expect(faultsOf(reply).join()).not.toBe("");
  }
});
