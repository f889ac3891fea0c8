import { describe, expect, it } from "vitest";
import { predict, type Prediction, type Site } from "./predict.ts";

const KEPT: Site["pages"] = { offer: "offer", nothing: "nothing", clear: "over" };
const CLEAN: Site = { pages: KEPT, files: "nothing", errors: "nothing", record: false, quic: true };
const ALL: Prediction = { offers: true, withholds: true, takesBack: true, works: true };
const OFFERED: Prediction = { offers: true, withholds: false, takesBack: false, works: false };
const OWN: Site["pages"] = { offer: "offer", nothing: "offer", clear: "offer" };

describe("predict", () => {
  it.each<[string, Site, Prediction]>([
    ["a site that passes all on", CLEAN, ALL],
    [
      "Alt-Svc that is taken away",
      { ...CLEAN, pages: { offer: "nothing", nothing: "nothing", clear: "nothing" } },
      { offers: false, withholds: true, takesBack: false, works: false },
    ],
    ["an offer in its place", { ...CLEAN, pages: OWN }, OFFERED],
    ["images with an offer", { ...CLEAN, files: "offer" }, OFFERED],
    ["errors with an offer", { ...CLEAN, errors: "offer" }, OFFERED],
    ["images that take offers back", { ...CLEAN, files: "over" }, { ...ALL, offers: false, works: false }],
    ["an HTTPS record", { ...CLEAN, record: true }, OFFERED],
    ["no QUIC", { ...CLEAN, quic: false }, { ...ALL, offers: false, works: false }],
    ["no QUIC, and an HTTPS record", { ...CLEAN, quic: false, record: true }, { ...ALL, offers: false, works: false }],
    [
      "a clear that nobody can read",
      { ...CLEAN, pages: { ...KEPT, clear: "nothing" } },
      { ...ALL, takesBack: false, works: false },
    ],
    [
      "a record that is not known",
      { ...CLEAN, record: undefined },
      { offers: true, withholds: null, takesBack: null, works: null },
    ],
    [
      "files that were not seen",
      { ...CLEAN, files: undefined },
      { offers: true, withholds: null, takesBack: null, works: null },
    ],
    ["QUIC that is not known", { ...CLEAN, quic: undefined }, { ...ALL, offers: null, works: null }],
    // With QUIC it cannot be withheld, without it cannot be offered.
    [
      "an offer of its own, and QUIC that is not known",
      { ...CLEAN, pages: OWN, quic: undefined },
      { offers: null, withholds: null, takesBack: null, works: false },
    ],
  ])("%s", (_what, site, expected) => {
    expect(predict(site)).toEqual(expected);
  });

  it.each<[string, Site, boolean]>([
    ["images with an offer", { ...CLEAN, files: "offer" }, true],
    ["errors with an offer", { ...CLEAN, errors: "offer" }, true],
    ["an offer in its place", { ...CLEAN, pages: OWN }, false],
    ["a clear that nobody can read", { ...CLEAN, pages: { ...KEPT, clear: "nothing" }, files: "offer" }, false],
    ["an HTTPS record", { ...CLEAN, record: true, files: "offer" }, false],
  ])("Firefox goes back after a clear that is followed by %s: %j", (_what, site, takesBack) => {
    expect(predict(site, "Firefox")).toEqual({ ...predict(site), takesBack });
    expect(predict(site).takesBack).toBe(false);
  });
});
