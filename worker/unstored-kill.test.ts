import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerHeartbeat } from "./heartbeat.ts";
import { Isolate } from "./isolate.ts";
import { FakeStores, HASH_KEY, inForce, mode, navigation, SETTINGS, stubOrigin, visit } from "./testing.ts";
import { KillHold } from "./unstored-kill.ts";

const T = 1_800_000_000_000;
stubOrigin();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: T });
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** One heartbeat: the edge says what it holds. Returns what it shall hold. */
async function beat(isolate: Isolate, stores: FakeStores, said?: string): Promise<string | undefined> {
  const ctx = createExecutionContext();
  const headers: Record<string, string> = said === undefined ? {} : { "adaptive-h3-kill": said };
  const answer = answerHeartbeat(new Request("http://internal/heartbeat", { headers }), stores, ctx, isolate);
  await waitOnExecutionContext(ctx);
  return answer.headers.get("adaptive-h3-kill") ?? said;
}

function broken(policy = mode("fixed-h3")): FakeStores {
  const stores = new FakeStores(policy);
  stores.bundle = new Error("disk I/O error");
  return stores;
}

describe("a kill switch that the store could not take", () => {
  it.each([
    ["fixed-h2", "a policy that offers is known", mode("fixed-h3"), "clear"],
    ["clear", "a policy that offers is known", mode("fixed-h3"), "clear"],
    ["fixed-h2", "no client can hold an offer", mode("observe"), null],
    ["fixed-h2", "the store never answered", undefined, "clear"],
    ["clear", "the store never answered", undefined, "clear"],
  ] as const)("%s, where %s: pages obey at once", async (kind, _, policy, altSvc) => {
    const isolate = new Isolate(SETTINGS);
    const stores = new FakeStores(policy);
    if (policy === undefined) stores.bundle = new Error("gone");
    await isolate.policyCache.renew(stores, T);
    isolate.kill.hold(kind, "ann", null, T);
    const { response, settled } = await visit(navigation(), stores, isolate);
    expect(response.headers.get("alt-svc")).toBe(altSvc);
    await settled;
    isolate.kill.settle();
    const after = await visit(navigation(), stores, isolate);
    expect(after.response.headers.get("alt-svc")).toBe(policy?.mode === "fixed-h3" ? 'h3=":8443"; ma=300' : null);
    await after.settled;
  });

  it("is held by the edge too, which gives it back to a worker that starts anew", async () => {
    const stores = broken();
    const before = new Isolate(SETTINGS);
    expect(await beat(before, stores)).toBeUndefined();
    before.kill.hold("clear", "ann", "incident", T, 7);
    const held = await beat(before, stores);
    expect(held).toMatch(/^clear 1800000000000 [0-9a-f-]{36} ann 7$/);

    const after = new Isolate(SETTINGS);
    expect(await beat(after, stores, held)).toBe(held);
    expect(after.kill.unstored).toMatchObject({ kind: "clear", author: "ann", atMs: T, revision: 7 });
    const { response, settled } = await visit(navigation(), stores, after);
    expect(response.headers.get("alt-svc")).toBe("clear");
    await settled;

    // Turned off. The edge hears it, and cannot bring it back.
    after.kill.settle();
    expect(await beat(after, stores, held)).toBe("off");
    expect(after.kill.unstored).toBeUndefined();
  });

  it("gives way to the next one, also at the edge", async () => {
    const isolate = new Isolate(SETTINGS);
    isolate.kill.hold("clear", "ann", null, T);
    const first = await beat(isolate, broken());
    isolate.kill.hold("fixed-h2", "bert", null, T);
    expect(await beat(isolate, broken(), first)).toMatch(/^fixed-h2 .* bert$/);
    isolate.kill.settle();
    expect(await beat(isolate, broken(), first)).toBe("off");
  });

  it("of which the isolate knew no revision, or an edge from before they were told, is held too", () => {
    const [before, after] = [new KillHold(), new KillHold()];
    before.hold("clear", "ann", null, T);
    const said = before.exchange(undefined);
    expect(said).toMatch(/ ann$/);
    expect(after.exchange(said)).toBe(said);
    expect(after.unstored?.revision).toBeUndefined();
  });

  it.each(["", "clear", "clear x y z", "open 1 2 ann", "clear 1 2"])("is not read from %j", async (said) => {
    const hold = new KillHold();
    expect(hold.exchange(said)).toBeUndefined();
    expect(hold.unstored).toBeUndefined();
  });

  it("is stored within seconds once the store takes it, without a gap", async () => {
    const isolate = new Isolate(SETTINGS);
    const stores = broken();
    isolate.kill.hold("clear", "ann", "incident", T);
    const held = await beat(isolate, stores);
    later(5_000);
    expect(await beat(isolate, stores, held)).toBe(held);

    stores.bundle = { inForce: inForce(mode("fixed-h3")), hashKey: HASH_KEY };
    later(4_999);
    await beat(isolate, stores, held);
    expect(stores.kills).toEqual([]);
    later(1);
    // Stored, but what this isolate got back does not show it yet: it stays in force here.
    expect(await beat(isolate, stores, held)).toBe(held);
    expect(stores.kills).toMatchObject([{ kind: "clear", author: "ann", note: "incident" }]);

    stores.bundle = { inForce: inForce(mode("fixed-h3"), { revision: 4, killSwitch: "clear" }), hashKey: HASH_KEY };
    later(5_000);
    await beat(isolate, stores, held);
    expect(await beat(isolate, stores, held)).toBe("off");
    expect(isolate.policyCache.current?.inForce?.killSwitch).toBe("clear");
  });

  it("is tried again by visits too, where there is no edge of ours", async () => {
    const isolate = new Isolate(SETTINGS);
    const stores = new FakeStores(mode("fixed-h3"));
    isolate.kill.hold("clear", "ann", null, T);
    later(5_000);
    const { settled } = await visit(navigation(), stores, isolate);
    await settled;
    expect(stores.kills).toHaveLength(1);
  });
});

it("the edge says whether HTTP/3 answers", () => {
  const isolate = new Isolate(SETTINGS);
  for (const state of ["ok", "down", "off", "else"]) {
    const request = new Request("http://internal/heartbeat", { headers: { "adaptive-h3-http3": state } });
    answerHeartbeat(request, broken(), createExecutionContext(), isolate);
    expect(isolate.edgeHttp3.state).toBe(state === "else" ? "off" : state);
  }
});

it("the edge says how large its UDP buffers are", () => {
  const isolate = new Isolate(SETTINGS);
  for (const [said, expected] of [
    ["425984 425985 7340032", { receiveBytes: 425_984, sendBytes: 425_985, wantedBytes: 7_340_032 }],
    ["425984 425985", null],
    ["1 2 -3", null],
    [undefined, null],
  ] as const) {
    const headers = { "adaptive-h3-http3": "ok", ...(said && { "adaptive-h3-udp-buffers": said }) };
    const request = new Request("http://internal/heartbeat", { headers });
    answerHeartbeat(request, broken(), createExecutionContext(), isolate);
    expect(isolate.udpBuffers).toEqual(expected);
  }
});
