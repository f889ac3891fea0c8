import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LOSS_NODES } from "../../decision/loss-nodes.ts";
import { FAMILIES, keyOf, lossClass, readKey, RTT_BOUNDS_MS, rttClass, UNKNOWN } from "./families.ts";

describe("keys", () => {
  it("say what they were made of", () => {
    const labels = { reason: "h3-faster", answer: "h3", arm: "policy", transport: "tcp", late: "no" } as const;
    const key = keyOf("decisions", labels);
    expect(key).toBe("decisions|h3-faster|h3|policy|tcp|no");
    expect(readKey(key)).toEqual({ family: "decisions", labels });
    expect(readKey(keyOf("undecided", {}))).toEqual({ family: "undecided", labels: {} });
  });

  it.each(["", "decisions", "decisions|x|h3|policy|tcp|no", "offers|taken|more", "constructor", "offers|"])(
    "of another release, or of nobody, are none: %j",
    (key) => {
      expect(readKey(key)).toBeUndefined();
    },
  );

  it("are none of what a text says by chance", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readKey(text)).toBeUndefined();
      }),
    );
  });

  it("are few, whatever happens", () => {
    const keys = Object.values<{ labels: Readonly<Record<string, readonly string[]>> }>(FAMILIES).map(({ labels }) =>
      Object.values(labels).reduce((product, values) => product * values.length, 1),
    );
    // Most of those of decisions cannot occur.
    expect(keys.reduce((sum, n) => sum + n, 0)).toBeLessThan(900);
  });
});

it("puts every RTT into a class", () => {
  expect([0, 4.9, 5, 79, 80, 1e9].map(rttClass)).toEqual(["0", "0", "5", "50", "80", String(RTT_BOUNDS_MS.at(-1))]);
  expect([undefined, Number.NaN, -1].map(rttClass)).toEqual([UNKNOWN, UNKNOWN, UNKNOWN]);
});

it("puts every loss into the class of the nearest node", () => {
  expect(LOSS_NODES.map(lossClass)).toEqual(LOSS_NODES.map(String));
  expect([0.0004, 0.0006, 1].map(lossClass)).toEqual(["0", "0.001", "0.05"]);
  expect([undefined, Number.NaN, -1].map(lossClass)).toEqual([UNKNOWN, UNKNOWN, UNKNOWN]);
});
