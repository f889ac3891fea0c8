import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { checkGrounds, type GroundsChecked } from "./compare.ts";
import { harmOf } from "./harm.ts";
import type { Arms } from "./intervals.ts";
import type { Sums } from "./sums.ts";
import { drawnArms } from "./testing.ts";

/** Offers from 40 ms on: in the classes of 30 to 80 ms and above. */
const FROM_40: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs: 40 } };
const EVEN = drawnArms({ clients: 500 }, { clients: 500 });
const GROUNDS = checkGrounds(EVEN, EVEN, 0.5);

/** Clients of the five classes: what offers save in each. */
function classesOf(saves: readonly number[], missing = 0): Arms<Sums>[] {
  return saves.map((one, i) =>
    drawnArms(
      { clients: 1000, saves: one, overH3: 0.9, seed: 10 * i + 1, missing },
      { clients: 1000, seed: 10 * i + 2 },
    ),
  );
}
const harm = (saves: readonly number[], { policy = FROM_40, grounds = GROUNDS, missing = 0 } = {}) =>
  harmOf(policy, classesOf(saves, missing), grounds).harm;

/** Whether harm could show, of versions that do none. */
const comparable = ({
  policy = FROM_40,
  clients = [1000, 1000, 1000, 1000, 1000],
  expectedShare = 0.5,
  elsewhere = 0,
  fresh = 500,
}): boolean => {
  const newClients = drawnArms({ clients: fresh }, { clients: fresh, overH3: elsewhere });
  const classes = clients.map((each) => drawnArms({ clients: each, saves: 0.1, overH3: 0.9 }, { clients: each }));
  const { harm: found, isHarmComparable } = harmOf(policy, classes, checkGrounds(EVEN, newClients, expectedShare));
  expect(found).toBeUndefined();
  return isHarmComparable;
};

describe("harmOf", () => {
  it("finds that offers slow down those who get them", () => {
    const found = harm([0, 0, -0.2, -0.2, -0.2]);
    expect(found?.kind).toBe("slower");
    expect(found?.interval.high).toBeLessThan(0);
    expect(found?.interval.low).toBeLessThan(-0.18 * 0.9);
  });

  it("asks nobody whom the version does not offer anything", () => {
    expect(harm([-0.3, -0.3, 0, 0, 0])).toBeUndefined();
    expect(harm([-0.3, -0.3, -0.3, -0.3, -0.3], { policy: INITIAL_POLICY })).toBeUndefined();
  });

  it("asks where a version offers to some clients of a class, or for some pages", () => {
    const late: Policy = { ...FROM_40, method: { kind: "rtt-threshold", rttMs: 400 } };
    expect(harm([0, 0, 0, 0, -0.3], { policy: late })?.kind).toBe("slower");
    const some: Policy = { ...FROM_40, method: { kind: "share", share: 0.1 } };
    expect(harm([-0.3, -0.3, -0.3, -0.3, -0.3], { policy: some })?.kind).toBe("slower");
  });

  it.each([
    ["a path", { pathPrefix: "/shop/" }],
    ["a country", { country: ["JP"] }],
    ["an autonomous system", { asn: [64_500, 64_501] }],
    ["all of them", { pathPrefix: "/shop/", country: ["JP"], asn: [64_500] }],
  ])("asks where a rule lets the method decide, on %s, and the policy itself offers nothing", (_, where) => {
    const ruled: Policy = { ...FROM_40, mode: "fixed-h2", rules: [{ ...where, mode: "adaptive" }] };
    expect(harm([0, 0, -0.2, -0.2, -0.2], { policy: ruled })?.kind).toBe("slower");
    const fixed: Policy = { ...ruled, rules: [{ ...where, mode: "fixed-h2" }] };
    expect(harm([0, 0, -0.2, -0.2, -0.2], { policy: fixed })).toBeUndefined();
  });

  it("asks also where too few new clients say whether something else offers HTTP/3", () => {
    const few = drawnArms({ clients: 3 }, { clients: 3 });
    const grounds: GroundsChecked = checkGrounds(EVEN, few, 0.5);
    expect(grounds.objections).toMatchObject([{ kind: "too-few-new-clients" }]);
    expect(harm([0, 0, -0.2, -0.2, -0.2], { grounds })?.kind).toBe("slower");
  });

  it("says nothing where a class's own draw is uneven", () => {
    const classes = [0, 0, -0.2, -0.2, -0.2].map((saves) =>
      drawnArms({ clients: 1500, saves, overH3: 0.9 }, { clients: 1000 }),
    );
    expect(harmOf(FROM_40, classes, GROUNDS)).toEqual({ harm: undefined, isHarmComparable: false });
  });

  it("says nothing where offers save time, or where nothing can be said", () => {
    expect(harm([0, 0, 0.1, 0.1, 0.1])).toBeUndefined();
    const few = [0, 0, -0.2, -0.2, -0.2].map((saves) =>
      drawnArms({ clients: 20, saves, overH3: 0.9 }, { clients: 20 }),
    );
    expect(harmOf(FROM_40, few, GROUNDS).harm).toBeUndefined();
  });

  it.each<[string, boolean, Partial<Parameters<typeof comparable>[0]>]>([
    ["clients of both arms where it offers HTTP/3", true, {}],
    ["too few clients there, and many elsewhere", false, { clients: [1000, 1000, 20, 20, 20] }],
    ["no client at all", false, { clients: [0, 0, 0, 0, 0] }],
    ["no place where it offers HTTP/3", true, { clients: [0, 0, 0, 0, 0], policy: INITIAL_POLICY }],
    ["an offer to everyone", false, { clients: [0, 0, 0, 0, 0], policy: { ...FROM_40, mode: "fixed-h3" } }],
    ["an uneven draw", false, { expectedShare: 0.3 }],
    ["HTTP/3 offered by something else", false, { elsewhere: 0.5 }],
    ["too few new clients", true, { fresh: 3 }],
  ])("says whether harm could show: %s", (_, isHarmComparable, given) => {
    expect(comparable(given)).toBe(isHarmComparable);
  });

  it("claims no slower pages where the arms cannot be compared", () => {
    const grounds: GroundsChecked = checkGrounds(EVEN, EVEN, 0.3);
    expect(harm([0, 0, -0.2, -0.2, -0.2], { grounds })).toBeUndefined();
  });

  it("finds that pages which are offered HTTP/3 report less often, whatever their times", () => {
    const found = harm([0, 0, 0.1, 0.1, 0.1], { missing: 0.2 });
    expect(found?.kind).toBe("fewer-reports");
    expect(found?.interval.low).toBeGreaterThan(0.1);
    expect(found?.interval.high).toBeLessThan(0.3);
  });
});
