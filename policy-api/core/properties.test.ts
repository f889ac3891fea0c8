// What must hold for every policy, request and history, sensible or not.
import fc from "fast-check";
import { expect, it } from "vitest";
import { KILL_SWITCHES } from "./activation.ts";
import { decide, decideKilled } from "./decide.ts";
import type { PathEstimate, TransportEstimate } from "./estimate.ts";
import type { History, RequestFacts } from "./facts.ts";
import { applyAnswer, NO_OFFER } from "./offers.ts";
import { parsePolicy } from "./parse-policy.ts";
import {
  type ColdStart,
  type Margin,
  type Method,
  MODES,
  type Policy,
  type TimesMethod,
  type ZeroLine,
} from "./policy.ts";
import { TRANSPORTS } from "./sample.ts";
import { adaptivePolicy, NOON_MS } from "./testing.ts";
import type { TimesLattice } from "./times.ts";

/** From min to max, but never -0, which JSON does not keep. */
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((value) => value + 0);
const unit = number(0, 1);

// Valid policies.

const axis = (min: number, max: number, maxLength: number): fc.Arbitrary<readonly number[]> =>
  fc.uniqueArray(number(min, max), { minLength: 1, maxLength }).map((values) => values.sort((a, b) => a - b));

function latticeOver(
  axes: fc.Arbitrary<Pick<TimesLattice, "rttMs" | "lossRatio" | "deliveryRateBps" | "contentBytes">>,
) {
  return axes.chain((given): fc.Arbitrary<TimesLattice> => {
    const nodes = Object.values(given).reduce((product, values) => product * values.length, 1);
    const ofEach = <T>(figure: fc.Arbitrary<T>) => fc.array(figure, { minLength: nodes, maxLength: nodes });
    // Half of all ratios are between 1/2 and 2, where decisions change.
    const times = ofEach(number(Math.log(100), Math.log(1_000)).map((log) => Math.exp(log)));
    return fc
      .record(
        {
          stayMs: times,
          switchMs: times,
          coldMs: times,
          switchSe: ofEach(number(0, 0.3)),
          coldSe: ofEach(number(0, 0.3)),
          supported: ofEach(fc.constantFrom(0, 1)),
        },
        { requiredKeys: ["stayMs", "switchMs", "coldMs"] },
      )
      .map((figures) => ({ ...given, ...figures }));
  });
}

const anyLattice = latticeOver(
  fc.record({
    rttMs: axis(0, 1_000, 3),
    lossRatio: axis(0, 1, 3),
    deliveryRateBps: axis(1, 1e9, 2),
    contentBytes: axis(1, 1e9, 2),
  }),
);
const coldLattice = latticeOver(
  fc.record({
    rttMs: axis(0, 1_000, 3),
    lossRatio: axis(0, 1, 1),
    deliveryRateBps: axis(1, 1e9, 1),
    contentBytes: axis(1, 1e9, 2),
  }),
);

const anyTimesMethod: fc.Arbitrary<TimesMethod> = fc
  .record(
    { kind: fc.constant("times" as const), tcp: anyLattice, quic: anyLattice, switchRoundTrips: number(0, 5) },
    { requiredKeys: ["kind"] },
  )
  .filter(({ tcp, quic }) => tcp !== undefined || quic !== undefined);
const anyLine: fc.Arbitrary<ZeroLine> = axis(0, 1_000, 4).chain((rttMs) =>
  fc.record({
    deliveryRateBps: number(1, 1e9),
    rttMs: fc.constant(rttMs),
    lossRatio: fc.array(number(0, 2), { minLength: rttMs.length, maxLength: rttMs.length }),
  }),
);
/** The methods that look at a path. */
const anyPathMethod: fc.Arbitrary<Method> = fc.oneof(
  anyTimesMethod,
  fc.record({ kind: fc.constant("zero-lines" as const), lines: fc.array(anyLine, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("rtt-threshold" as const), rttMs: number(0, 1_000) }),
);
const anyMethod = fc.oneof(anyPathMethod, fc.record({ kind: fc.constant("share" as const), share: unit }));

const anyMargin: fc.Arbitrary<Margin> = fc
  .tuple(number(-0.5, 1), number(0, 1), number(0, 3))
  .map(([leave, gap, standardErrors]) => ({ leave, enter: leave + gap, standardErrors }));
const anyMa: fc.Arbitrary<Policy["ma"]> = fc
  .tuple(fc.integer({ min: 1, max: 40_000 }), fc.nat(40_000))
  .map(([minS, more]) => ({ minS, maxS: minS + more }));
const anyColdStart: fc.Arbitrary<ColdStart> = fc.record(
  {
    advertise: fc.constantFrom("h3" as const, "nothing" as const),
    mix: fc.string({ minLength: 1, maxLength: 20 }),
    times: coldLattice,
  },
  { requiredKeys: ["advertise"] },
);
const anyPrefix = fc.string({ maxLength: 10 }).map((text) => `/${text}`);
const anyPolicy: fc.Arbitrary<Policy> = fc.record(
  {
    schema: fc.constant(2 as const),
    mode: fc.constantFrom(...MODES),
    source: fc.string({ minLength: 1, maxLength: 20 }),
    provenance: fc.record({
      stack: fc.string({ minLength: 1, maxLength: 20 }),
      congestionControl: fc.constantFrom("cubic", "bbr"),
      command: fc.string({ minLength: 1, maxLength: 20 }),
      rowsSha256: fc.stringMatching(/^[0-9a-f]{64}$/),
      loads: fc.nat(1e9),
      cells: fc.nat(1e6),
    }),
    method: anyMethod,
    contentBytes: fc.record({
      default: fc.integer({ min: 1, max: 1e12 }),
      routes: fc.array(fc.record({ pathPrefix: anyPrefix, bytes: fc.integer({ min: 1, max: 1e12 }) }), {
        maxLength: 3,
      }),
    }),
    coldStart: anyColdStart,
    ma: anyMa,
    margin: anyMargin,
    exploration: fc.record({ share: unit }),
    rules: fc.array(
      fc.record(
        {
          pathPrefix: anyPrefix,
          asn: fc.array(fc.nat(4_294_967_295), { minLength: 1, maxLength: 3 }),
          country: fc.array(fc.stringMatching(/^[A-Z]{2}$/), { minLength: 1, maxLength: 3 }),
          mode: fc.constantFrom(...MODES),
        },
        { requiredKeys: ["mode"] },
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ["schema", "mode", "method", "contentBytes", "coldStart", "ma", "margin", "exploration", "rules"] },
);

// Requests and histories, with numbers of one kind.

function requestOf(figure: fc.Arbitrary<number>): fc.Arbitrary<RequestFacts> {
  return fc.record(
    {
      transport: fc.constantFrom(...TRANSPORTS),
      path: anyPrefix,
      rttMs: figure,
      deliveryRateBps: figure,
      asn: figure,
      country: fc.constantFrom("JP", "DE"),
      offerUntilMs: figure,
      offering: fc.boolean(),
      pausedUntilMs: figure,
      shareUnit: figure,
      modesElsewhere: fc.array(fc.constantFrom(...MODES), { maxLength: 3 }),
    },
    { requiredKeys: ["transport", "path"] },
  );
}

function historyOf(read: fc.Arbitrary<TransportEstimate>): fc.Arbitrary<History> {
  const estimate: fc.Arbitrary<PathEstimate> = fc.record({ tcp: read, quic: read }, { requiredKeys: [] });
  return fc.record(
    {
      state: fc.constantFrom("known" as const, "unknown" as const, "late" as const),
      client: estimate,
      network: estimate,
      asn: estimate,
    },
    { requiredKeys: ["state"] },
  );
}

function estimateOf(figure: fc.Arbitrary<number>): fc.Arbitrary<TransportEstimate> {
  return fc.record(
    {
      packets: figure,
      ageMs: figure,
      lossRatio: figure,
      minRttMs: figure,
      deliveryRateBps: figure,
      changedMsAgo: figure,
    },
    { requiredKeys: ["packets", "ageMs"] },
  );
}

const soundEstimate: fc.Arbitrary<TransportEstimate> = fc.record(
  {
    packets: number(0, 1e6),
    ageMs: number(0, 1e7),
    lossRatio: number(0, 1),
    minRttMs: number(0.01, 1_000),
    deliveryRateBps: number(1, 1e9),
    changedMsAgo: number(0, 1e7),
  },
  { requiredKeys: ["packets", "ageMs"] },
);
const soundRequest: fc.Arbitrary<RequestFacts> = fc.record(
  {
    transport: fc.constantFrom(...TRANSPORTS),
    path: anyPrefix,
    rttMs: number(0.01, 1_000),
    deliveryRateBps: number(1, 1e9),
    offerUntilMs: fc.constantFrom(NOON_MS - 1, NOON_MS, NOON_MS + 1),
    offering: fc.boolean(),
  },
  { requiredKeys: ["transport", "path"] },
);
/** Numbers of a broken meter or clock. */
const broken = fc.constantFrom(Number.NaN, -1, -0.5, -1e300, -Infinity, Infinity);
const anyNumber = fc.oneof(fc.double(), broken, fc.constantFrom(0, -0, 1e-300, 1e300, Number.MAX_VALUE));

it("a policy that is printed and parsed is what it was", () => {
  fc.assert(
    fc.property(anyPolicy, (policy) => {
      expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ ok: true, value: policy });
    }),
  );
});

it("a saving above enter over its whole uncertainty is an offer, one of at most leave never is", () => {
  const seen = { offers: 0, none: 0, between: 0 };
  // The rounding error of ln(1 + x) and back.
  const near = 1e-9;
  fc.assert(
    fc.property(
      anyTimesMethod,
      anyMargin,
      anyColdStart,
      soundRequest,
      historyOf(soundEstimate),
      (method, margin, coldStart, request, history) => {
        const policy = adaptivePolicy({ method, margin, coldStart });
        const { advertise, savingLow, savingHigh } = decide(request, history, policy, NOON_MS, undefined);
        if (savingLow === undefined || savingHigh === undefined) return;
        if (savingLow > margin.enter + near) {
          expect(advertise.kind).toBe("h3");
          seen.offers++;
        } else if (savingHigh < margin.leave - near) {
          expect(advertise.kind).not.toBe("h3");
          seen.none++;
        } else seen.between++;
      },
    ),
    { numRuns: 500 },
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});

it("whatever a request and a history hold, a decision is made, within the policy's bounds", () => {
  fc.assert(
    fc.property(
      anyPolicy,
      requestOf(anyNumber),
      historyOf(estimateOf(anyNumber)),
      fc.option(anyNumber, { nil: undefined }),
      (policy, request, history, drawn) => {
        const { advertise, propensity } = decide(request, history, policy, NOON_MS, drawn);
        if (advertise.kind === "h3") {
          expect(Number.isInteger(advertise.maS)).toBe(true);
          expect(advertise.maS).toBeGreaterThanOrEqual(policy.ma.minS);
          expect(advertise.maS).toBeLessThanOrEqual(policy.ma.maxS);
        }
        expect(propensity).toBeGreaterThanOrEqual(0);
        expect(propensity).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 500 },
  );
});

it("whoever may hold an offer and is given none is told to drop it, unless nothing is touched", () => {
  const moment = fc.constantFrom(0, NOON_MS, NOON_MS + 1);
  fc.assert(
    fc.property(
      anyPolicy,
      requestOf(anyNumber),
      historyOf(soundEstimate),
      moment,
      unit,
      (policy, anyRequest, history, offerUntilMs, drawn) => {
        const request = { ...anyRequest, offerUntilMs };
        const { advertise, mode } = decide(request, history, policy, NOON_MS, drawn);
        if (mode === "observe") expect(advertise.kind).toBe("nothing");
        else if (advertise.kind !== "h3")
          expect(advertise.kind === "clear").toBe(
            request.transport === "quic" ||
              offerUntilMs > NOON_MS ||
              [policy.mode, ...policy.rules.map((rule) => rule.mode), ...(request.modesElsewhere ?? [])].some(
                (other) => other !== mode && (other === "fixed-h3" || (other === "adaptive" && mode === "fixed-h2")),
              ),
          );
        for (const killSwitch of KILL_SWITCHES) {
          const killed = decideKilled(killSwitch, request, NOON_MS);
          const holds = request.transport === "quic" || offerUntilMs > NOON_MS;
          expect(killed.advertise.kind).toBe(holds || killSwitch === "clear" ? "clear" : "nothing");
        }
      },
    ),
    { numRuns: 500 },
  );
});

it("where the cold start says nothing broken numbers never lead to an offer over TCP", () => {
  fc.assert(
    fc.property(
      anyPathMethod,
      anyMargin,
      requestOf(broken),
      historyOf(estimateOf(broken)),
      (method, margin, request, history) => {
        const policy = adaptivePolicy({ method, margin, coldStart: { advertise: "nothing" } });
        const overTcp: RequestFacts = { ...request, transport: "tcp" };
        expect(decide(overTcp, history, policy, NOON_MS, undefined).advertise.kind).not.toBe("h3");
      },
    ),
  );
});

it("nor does a loss that is broken where all else is sound", () => {
  const brokenLoss = fc
    .tuple(soundEstimate, fc.oneof(fc.record({ lossRatio: broken }), fc.record({ lossRatio: unit, packets: broken })))
    .map(([read, loss]): TransportEstimate => ({ ...read, ...loss }));
  const onItsLoss = anyPathMethod.filter(({ kind }) => kind !== "rtt-threshold");
  fc.assert(
    fc.property(onItsLoss, anyMargin, soundRequest, historyOf(brokenLoss), (method, margin, request, history) => {
      const policy = adaptivePolicy({ method, margin, coldStart: { advertise: "nothing" } });
      const overTcp: RequestFacts = { ...request, transport: "tcp" };
      expect(decide(overTcp, history, policy, NOON_MS, undefined).advertise.kind).not.toBe("h3");
    }),
  );
});

it("nor an RTT or a rate that no network has, where all else is sound", () => {
  const huge = fc.constantFrom(1e300, Number.MAX_VALUE, Infinity);
  const absurd = fc.oneof(broken, huge);
  const brokenRate = fc.tuple(soundEstimate, absurd).map(([read, deliveryRateBps]) => ({ ...read, deliveryRateBps }));
  const withoutRtt = soundEstimate.map(({ minRttMs: _none, ...read }): TransportEstimate => read);
  const overTcp = (request: RequestFacts): RequestFacts => ({ ...request, transport: "tcp" });
  const isOffered = (policy: Policy, request: RequestFacts, history: History): boolean =>
    decide(request, history, policy, NOON_MS, undefined).advertise.kind === "h3";
  fc.assert(
    fc.property(anyTimesMethod, anyMargin, soundRequest, historyOf(brokenRate), (method, margin, request, history) => {
      const policy = adaptivePolicy({ method, margin, coldStart: { advertise: "nothing" } });
      // A valid rate of this connection counts before the networks' rates.
      const { deliveryRateBps: _none, ...withoutRate } = request;
      expect(isOffered(policy, overTcp(withoutRate), history)).toBe(false);
    }),
  );
  fc.assert(
    fc.property(
      anyTimesMethod,
      anyColdStart,
      soundRequest,
      absurd,
      historyOf(withoutRtt),
      (method, coldStart, request, rttMs, history) => {
        const policy = adaptivePolicy({ method, coldStart: { ...coldStart, advertise: "nothing" } });
        expect(isOffered(policy, overTcp({ ...request, rttMs }), history)).toBe(false);
      },
    ),
  );
});

it("near the boundary, in noise smaller than the gap between enter and leave, the answer flips at most once", () => {
  const seen = { flipped: 0, stayed: 0 };
  const visit = fc.record({
    /** Of the gap. */
    noise: number(-0.49, 0.49),
    packets: fc.integer({ min: 100, max: 1_000_000 }),
    follows: fc.boolean(),
    // An offer of ten seconds is still alive at the next visit.
    afterMs: fc.integer({ min: 1, max: 9_999 }),
  });
  fc.assert(
    fc.property(
      number(-0.2, 0.2),
      number(0.01, 0.3),
      number(0, 3),
      number(-1, 2),
      fc.array(visit, { maxLength: 300, size: "max" }),
      (leave, gap, standardErrors, place, visits) => {
        const margin = { leave, enter: leave + gap, standardErrors };
        const policy = adaptivePolicy({ margin });
        const low = Math.log1p(margin.leave);
        const width = Math.log1p(margin.enter) - low;
        let offers = NO_OFFER;
        let nowMs = NOON_MS;
        let flips = 0;
        for (const { noise, packets, follows, afterMs } of visits) {
          const log = low + (place + noise) * width;
          const estimate = { packets, ageMs: 0, lossRatio: lossAt(log), deliveryRateBps: 25e6 };
          const request: RequestFacts = {
            transport: offers.offering && follows ? "quic" : "tcp",
            path: "/",
            rttMs: 50,
            offerUntilMs: offers.untilMs,
            offering: offers.offering,
          };
          const history: History = { state: "known", client: { tcp: estimate } };
          const { advertise } = decide(request, history, policy, nowMs, undefined);
          if ((advertise.kind === "h3") !== offers.offering) flips++;
          const offerUntilMs = advertise.kind === "h3" ? nowMs + advertise.maS * 1_000 : 0;
          offers = applyAnswer(offers, { atMs: nowMs, offerUntilMs });
          nowMs += afterMs;
        }
        expect(flips).toBeLessThanOrEqual(1);
        seen[flips === 1 ? "flipped" : "stayed"]++;
      },
    ),
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});

/** The loss at which the lattice of testing.ts predicts this ln(stay / switch). */
function lossAt(log: number): number {
  return Math.max(0, 0.001 * 41 ** ((log / Math.LN2 + 1) / 2) - 0.001);
}
