import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { InForce } from "../policy-api/decision/activation.ts";
import { POLICY_OUTDATED_MS } from "../policy-api/decision/policy.ts";
import { adaptivePolicy } from "../policy-api/decision/testing.ts";
import { clientAddress } from "./address.ts";
import { Isolate } from "./isolate.ts";
import { Hasher } from "./hasher.ts";
import {
  CF_H2,
  CF_H3,
  FakeStores,
  H3_FIRST,
  HASH_KEY,
  inForce,
  mode,
  navigation,
  fails,
  never,
  SETTINGS,
  stubOrigin,
  visit,
} from "./testing.ts";

stubOrigin();

/** The Alt-Svc of the response to a navigation, under an activation. */
async function told(
  over: Partial<InForce>,
  request: Request = navigation(),
  stores: FakeStores = new FakeStores(undefined),
): Promise<string | null> {
  stores.bundle = { inForce: inForce(mode("observe"), over), hashKey: HASH_KEY };
  const { response, settled } = await visit(request, stores, new Isolate({ ...SETTINGS, budgetMs: 1000 }));
  await settled;
  return response.headers.get("alt-svc");
}

const from = (address: string, path = "/page"): Request =>
  new Request(`https://site.test:8443${path}`, {
    headers: { "sec-fetch-dest": "document", "cf-connecting-ip": address },
    cf: CF_H2 as never,
  });
const OFFER = 'h3=":8443"; ma=300';

describe("stages", () => {
  it("a share of clients gets another version: those whose unit is below it", async () => {
    const hasher = new Hasher(HASH_KEY);
    const stages = [{ version: 4, policy: mode("fixed-h3"), share: 0.3 }];
    let inShare = 0;
    for (let i = 0; i < 60; i++) {
      const address = `10.0.${i}.1`;
      const unit = hasher.unit("activation", clientAddress(address) ?? { client: "", network: "" });
      if (unit < 0.3) inShare++;
      expect(await told({ stages }, from(address))).toBe(unit < 0.3 ? OFFER : null);
    }
    expect(inShare).toBeGreaterThan(5);
    expect(inShare).toBeLessThan(40);
  });

  it("a path gets another version", async () => {
    const stages = [{ version: 4, policy: mode("fixed-h3"), share: 1, pathPrefix: "/shop/" }];
    expect(await told({ stages }, from("10.0.0.1", "/shop/a"))).toBe(OFFER);
    expect(await told({ stages }, from("10.0.0.1", "/"))).toBeNull();
  });

  it("where a path may have offered, other pages that withhold take it back", async () => {
    const stages = [{ version: 4, policy: mode("fixed-h3"), share: 1, pathPrefix: "/shop/" }];
    const everyone = { version: 3, policy: mode("fixed-h2") };
    expect(await told({ everyone, stages }, from("10.0.0.1", "/"))).toBe("clear");
    expect(await told({ everyone }, from("10.0.0.1", "/"))).toBeNull();
  });

  it("a version that cannot be read says nothing to whom it is for, and to nobody else", async () => {
    const stages = [{ version: 4, share: 1, pathPrefix: "/shop/" }];
    const everyone = { version: 3, policy: mode("fixed-h3") };
    expect(await told({ everyone, stages }, from("10.0.0.1", "/shop/"))).toBeNull();
    expect(await told({ everyone, stages }, from("10.0.0.1", "/"))).toBe(OFFER);
  });

  it("who has no address that can be believed is in no share below 1", async () => {
    const stages = [{ version: 4, policy: mode("fixed-h3"), share: 0.99 }];
    const request = new Request("https://site.test:8443/", {
      headers: { "sec-fetch-dest": "document" },
      cf: CF_H2 as never,
    });
    expect(await told({ stages }, request)).toBeNull();
    expect(await told({ stages: [{ version: 4, policy: mode("fixed-h3"), share: 1 }] }, request)).toBe(OFFER);
  });

  it("whose unit could not be drawn in time is told nothing, not what is for everyone", async () => {
    const stages = [{ version: 4, policy: mode("fixed-h2"), share: 0.99 }];
    const stores = new FakeStores(undefined);
    const everyone = { version: 3, policy: mode("fixed-h3") };
    stores.bundle = { inForce: inForce(mode("observe"), { everyone, stages }), hashKey: HASH_KEY };
    const isolate = new Isolate({ ...SETTINGS, budgetMs: 0 });
    // Outdated, and a newer one does not come in time: the draw is after it.
    await isolate.policyCache.renew(stores, Date.now() - POLICY_OUTDATED_MS);
    stores.policyBundle = never;
    const { response } = await visit(from("10.0.0.1"), stores, isolate);
    expect(response.headers.get("alt-svc")).toBeNull();
  });

  it.each([
    [20_000, mode("fixed-h3"), OFFER],
    [30_000, mode("fixed-h3"), null],
    [30_000, adaptivePolicy({ exploration: { share: 1 } }), null],
    // What takes offers back still does.
    [30_000, mode("fixed-h2"), "clear"],
  ] as const)("one that is %i ms old, while the store does not answer: %o", async (ageMs, policy, altSvc) => {
    const stores = new FakeStores(undefined);
    const earlierOffersUntilMs = Date.now() + 60_000;
    stores.bundle = { inForce: inForce(policy, { earlierOffersUntilMs }), hashKey: HASH_KEY };
    const isolate = new Isolate(SETTINGS);
    await isolate.policyCache.renew(stores, Date.now() - ageMs);
    stores.policyBundle = fails;
    for (const address of ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]) {
      const { response } = await visit(from(address), stores, isolate);
      expect(response.headers.get("alt-svc")).toBe(altSvc);
    }
  });

  it("a unit is drawn only where it counts", async () => {
    const drawn = vi.spyOn(Hasher.prototype, "unit");
    await told({ stages: [] });
    await told({ stages: [{ version: 4, policy: mode("fixed-h3"), share: 1 }] });
    await told({ stages: [{ version: 4, policy: mode("fixed-h3"), share: 0.5, pathPrefix: "/elsewhere" }] });
    expect(drawn).toHaveBeenCalledTimes(0);
    await told({ stages: [{ version: 4, policy: mode("fixed-h3"), share: 0.5 }] });
    expect(drawn).toHaveBeenCalledTimes(1);
    drawn.mockRestore();
  });

  it("the log tells which version decided", async () => {
    const lines: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    const stores = new FakeStores(undefined);
    const stages = [{ version: 4, policy: adaptivePolicy(), share: 1, pathPrefix: "/shop/" }];
    stores.bundle = { inForce: inForce(mode("fixed-h2"), { stages }), hashKey: HASH_KEY };
    const isolate = new Isolate({ ...SETTINGS, logDecisions: true, budgetMs: 1000 });
    for (const path of ["/", "/shop/"]) await (await visit(from("10.0.0.1", path), stores, isolate)).settled;
    log.mockRestore();
    expect(lines.map((line) => (JSON.parse(line) as { policyVersion: number }).policyVersion)).toEqual([3, 4]);
  });
});

describe("the kill switch", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const adaptive = { version: 3, policy: H3_FIRST };

  it.each([
    ["fixed-h2", CF_H2, 0, null],
    ["fixed-h2", CF_H2, 1000, "clear"],
    ["fixed-h2", CF_H3, 0, "clear"],
    ["clear", CF_H2, 0, "clear"],
    ["clear", CF_H3, 0, "clear"],
    [null, CF_H2, 0, 'h3=":8443"; ma=100'],
  ] as const)("%s, %j, earlier offers live for %d ms more: %s", async (killSwitch, cf, livesMs, altSvc) => {
    const over = { everyone: adaptive, killSwitch, earlierOffersUntilMs: Date.now() + livesMs };
    expect(await told(over, navigation(cf))).toBe(altSvc);
  });

  it.each([
    ["no stage", []],
    ["a stage", [{ version: 4, policy: mode("fixed-h3"), share: 0.9 }]],
  ])("looks nobody up, and stages count nothing: %s", async (_name, stages) => {
    const stores = new FakeStores(undefined);
    const drawn = vi.spyOn(Hasher.prototype, "unit");
    expect(await told({ everyone: adaptive, stages, killSwitch: "clear" }, navigation(), stores)).toBe("clear");
    expect(stores.lookUps).toEqual([]);
    expect(drawn).not.toHaveBeenCalled();
    drawn.mockRestore();
    expect(stores.records.flatMap((reports) => reports.flatMap(({ answers }) => answers))).toEqual([]);
  });
});

describe("a change", () => {
  it("is obeyed 30 s later at the latest, whoever came by when", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      for (const visitsS of [
        [0, 29.9, 30],
        [0, 14, 16, 29, 30],
        [0, 30],
        [0, 100],
        [0, 10, 20, 30],
      ]) {
        const isolate = new Isolate({ ...SETTINGS, budgetMs: 1000 });
        const stores = new FakeStores(mode("fixed-h3"));
        const beganMs = Date.now();
        let last: string | null = null;
        for (const s of visitsS) {
          vi.setSystemTime(beganMs + s * 1000);
          const { response, settled } = await visit(navigation(), stores, isolate);
          last = response.headers.get("alt-svc");
          await settled;
          // Changed right after the isolate asked for the first time.
          stores.bundle = { inForce: inForce(mode("fixed-h2"), { revision: 4 }), hashKey: HASH_KEY };
        }
        // An earlier offer is taken back too.
        expect(last, JSON.stringify(visitsS)).toBe("clear");
      }
    } finally {
      vi.useRealTimers();
    }
  });
});
