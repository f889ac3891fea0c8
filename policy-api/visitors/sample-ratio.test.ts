import { describe, expect, it } from "vitest";
import { logGamma, sampleRatioOf } from "./sample-ratio.ts";

describe("sampleRatioOf", () => {
  it.each([
    [5000, 5000, 0.5, false],
    [5100, 4900, 0.5, false],
    [900, 9100, 0.1, false],
    [5500, 4500, 0.5, true],
    [1100, 900, 0.5, false],
    [1375, 1125, 0.5, true],
    [1000, 9000, 0.05, true],
    [0, 200, 0.5, true],
  ])("of %d offered and %d withheld at a share of %d says %s", (offered, withheld, share, isUneven) => {
    expect(sampleRatioOf({ offered, withheld }, share).isUneven).toBe(isUneven);
  });

  it("takes nobody for even", () => {
    expect(sampleRatioOf({ offered: 0, withheld: 0 }, 0.5)).toMatchObject({ logEvidence: 0, isUneven: false });
  });

  it.each([0, 1, Number.NaN])("calls a share of %d uneven: nothing can be reckoned", (share) => {
    expect(sampleRatioOf({ offered: 100, withheld: 100 }, share).isUneven).toBe(true);
  });

  // What makes it hold at every look: whatever came, the next client changes the evidence by 1 on average.
  it.each([
    [0.5, 60],
    [0.1, 300],
  ])("is 1 on average over all draws at a share of %d after %d clients", (share, clients) => {
    let mean = 0;
    for (let offered = 0; offered <= clients; offered++) {
      const withheld = clients - offered;
      const logChance =
        logGamma(clients + 1) -
        logGamma(offered + 1) -
        logGamma(withheld + 1) +
        offered * Math.log(share) +
        withheld * Math.log(1 - share);
      mean += Math.exp(logChance + sampleRatioOf({ offered, withheld }, share).logEvidence);
    }
    expect(mean).toBeCloseTo(1, 9);
  });
});

describe("logGamma", () => {
  it("is ln of factorials", () => {
    let log = 0;
    for (let n = 1; n <= 200; n++) {
      expect(logGamma(n)).toBeCloseTo(log, 9);
      log += Math.log(n);
    }
  });

  it("is ln of sqrt(pi) at one half, and nothing at 0", () => {
    expect(logGamma(0.5)).toBeCloseTo(Math.log(Math.PI) / 2, 11);
    expect(logGamma(0)).toBeNaN();
  });
});
