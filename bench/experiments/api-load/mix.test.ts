import { describe, expect, it } from "vitest";
import { API_CALLERS, CALLERS, type CallerName } from "./mix.ts";

describe("the mix of callers", () => {
  it("activates by turns, as what is in force already would be no new revision", () => {
    const everyone = [0, 1, 2, 3].map(
      (n) => (JSON.parse(CALLERS.activate.call(n, [7, 9]).body ?? "") as { everyone: number }).everyone,
    );
    expect(everyone).toEqual([7, 9, 7, 9]);
  });

  it("pushes a policy that was not there before", () => {
    const bodies = [0, 1, 2].map((n) => CALLERS.push.call(n, [1]).body);
    expect(new Set(bodies).size).toBe(3);
  });

  it("sends no wrong token but where it means to", () => {
    for (const caller of Object.keys(CALLERS) as CallerName[])
      expect(CALLERS[caller].call(0, [1]).headers?.["authorization"] !== undefined).toBe(caller === "refused");
  });

  it("has as many other requests as calls of the API, and none of them asks it", () => {
    const rate = API_CALLERS.reduce((sum, caller) => sum + CALLERS[caller].rate, 0);
    expect(CALLERS.plain.rate).toBe(rate);
    for (const caller of Object.keys(CALLERS) as CallerName[])
      expect(CALLERS[caller].call(0, [1]).path.startsWith("/_h3/v1/")).toBe(caller !== "plain");
  });

  it("asks for as many paths as it says", () => {
    for (const [caller, paths] of [
      ["decide-1", 1],
      ["decide-100", 100],
    ] as const) {
      const body = JSON.parse(CALLERS[caller].call(0, [1]).body ?? "") as { paths: unknown[] };
      expect(body.paths).toHaveLength(paths);
    }
  });
});
