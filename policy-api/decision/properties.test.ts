// What must hold for every policy, request and history, sensible or not.
import fc from "fast-check";
import { expect, it } from "vitest";
import { KILL_SWITCHES } from "./activation.ts";
import { decide, decideKilled, type Decision } from "./decide.ts";
import type { ConnectionSeen, History, RequestFacts } from "./facts.ts";
import type { GainTable } from "./gain-table.ts";
import { applyAnswer, NO_OFFER, offersOf } from "./offers.ts";
import { type GainsMethod, type Method, MODES, parsePolicy, type Policy, type ZeroLine } from "./policy.ts";
import { TRANSPORTS } from "./sample.ts";
import { adaptivePolicy, clientWith, flatTable, GAINS, NOON_MS } from "./testing.ts";

/** From min to max, but never -0, which JSON does not keep. */
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((value) => value + 0);
const unit = number(0, 1);

// Valid policies.

const axis = (min: number, max: number, maxLength: number): fc.Arbitrary<readonly number[]> =>
  fc.uniqueArray(number(min, max), { minLength: 1, maxLength }).map((values) => values.sort((a, b) => a - b));

/** Shares that add up to 1. */
const shares = (length: number): fc.Arbitrary<readonly number[]> =>
  fc.array(number(0.01, 1), { minLength: length, maxLength: length }).map((values) => {
    const sum = values.reduce((total, value) => total + value, 0);
    return values.map((value) => value / sum);
  });

const anyTable: fc.Arbitrary<GainTable> = fc
  .record({ rttMs: axis(0, 1_000, 3), lossRatio: axis(0, 1, 3), contentBytes: axis(1, 1e9, 2) })
  .chain((axes) => {
    const ofEach = <T>(figure: fc.Arbitrary<T>, { length }: readonly unknown[]) =>
      fc.array(figure, { minLength: length, maxLength: length });
    const lists = (figure: fc.Arbitrary<number>) =>
      ofEach(ofEach(ofEach(figure, axes.rttMs), axes.lossRatio), axes.contentBytes);
    const gains = fc.record({ gain: lists(number(-1, 1)), se: lists(number(0.001, 0.3)) });
    return fc
      .record({
        next: gains,
        return: gains,
        price: ofEach(number(-0.1, 0.3), axes.rttMs),
        priceSe: ofEach(number(0.001, 0.3), axes.rttMs),
      })
      .map((figures) => ({ ...axes, ...figures }));
  });

const anyGainsMethod: fc.Arbitrary<GainsMethod> = anyTable.chain((table) =>
  fc.record({ kind: fc.constant("gains" as const), table: fc.constant(table), mix: shares(table.lossRatio.length) }),
);
const anyLine: fc.Arbitrary<ZeroLine> = axis(0, 1_000, 4).chain((rttMs) =>
  fc.record({
    deliveryRateBps: number(1, 1e9),
    rttMs: fc.constant(rttMs),
    lossRatio: fc.array(number(0, 2), { minLength: rttMs.length, maxLength: rttMs.length }),
  }),
);
/** The methods that look at a path. */
const anyPathMethod: fc.Arbitrary<Method> = fc.oneof(
  anyGainsMethod,
  fc.record({
    kind: fc.constant("zero-lines" as const),
    lines: fc.array(anyLine, { minLength: 1, maxLength: 3 }),
    unknown: fc.constant("nothing" as const),
  }),
  fc.record({ kind: fc.constant("rtt-threshold" as const), rttMs: number(0, 1_000) }),
);
const anyMethod = fc.oneof(anyPathMethod, fc.record({ kind: fc.constant("share" as const), share: unit }));

const anyMargin: fc.Arbitrary<Policy["margin"]> = fc
  .tuple(number(-0.5, 1), number(0, 1))
  .map(([leave, gap]) => ({ leave, enter: leave + gap }));
const anyMa: fc.Arbitrary<Policy["ma"]> = fc
  .tuple(fc.integer({ min: 1, max: 40_000 }), fc.nat(40_000))
  .map(([minS, more]) => ({ minS, maxS: minS + more }));
const anyVisit: fc.Arbitrary<Policy["visit"]> = fc.record({
  pages: fc.integer({ min: 1, max: 6 }).chain(shares),
  returns: fc.array(fc.record({ afterS: number(1, 1e6), share: unit }), { maxLength: 3 }),
});
const anyPrefix = fc.string({ maxLength: 10 }).map((text) => `/${text}`);
const anyPolicy: fc.Arbitrary<Policy> = fc.record(
  {
    schema: fc.constant(3 as const),
    mode: fc.constantFrom(...MODES),
    source: fc.string({ minLength: 1, maxLength: 20 }),
    provenance: fc.record({
      stack: fc.string({ minLength: 1, maxLength: 20 }),
      congestionControl: fc.constantFrom("cubic", "bbr"),
      quic: fc.constantFrom("quic-go", "quiche-bbr2"),
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
    visit: anyVisit,
    ma: anyMa,
    margin: anyMargin,
    exploration: fc.record({ share: unit }),
    reports: fc.record({ share: unit, inject: fc.boolean() }),
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
  {
    requiredKeys: [
      "schema",
      "mode",
      "method",
      "contentBytes",
      "visit",
      "ma",
      "margin",
      "exploration",
      "reports",
      "rules",
    ],
  },
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
      answeredAtMs: figure,
      pausedUntilMs: figure,
      shareUnit: figure,
      modesElsewhere: fc.array(fc.constantFrom(...MODES), { maxLength: 3 }),
    },
    { requiredKeys: ["transport", "path"] },
  );
}

function historyOf(seen: fc.Arbitrary<ConnectionSeen>): fc.Arbitrary<History> {
  return fc.record(
    {
      state: fc.constantFrom("known" as const, "unknown" as const, "late" as const),
      connections: fc.array(seen, { maxLength: 8 }),
    },
    { requiredKeys: ["state"] },
  );
}

function seenOf(figure: fc.Arbitrary<number>): fc.Arbitrary<ConnectionSeen> {
  return fc.record(
    {
      transport: fc.constantFrom(...TRANSPORTS),
      packets: figure,
      lost: figure,
      ageMs: figure,
      rttMs: figure,
      bytes: figure,
      busyMs: figure,
      deliveryRateBps: figure,
    },
    { requiredKeys: ["transport", "packets", "lost", "ageMs"] },
  );
}

const soundSeen: fc.Arbitrary<ConnectionSeen> = fc
  .record(
    {
      transport: fc.constantFrom(...TRANSPORTS),
      packets: number(0, 1e5),
      ageMs: number(0, 1e9),
      rttMs: number(0.01, 1_000),
      bytes: number(0, 1e8),
      busyMs: number(0, 1e5),
      deliveryRateBps: number(1, 1e9),
      lossRatio: number(0, 0.2),
    },
    { requiredKeys: ["transport", "packets", "ageMs", "lossRatio"] },
  )
  .map(({ lossRatio, ...seen }) => ({ ...seen, lost: lossRatio * seen.packets }));
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

it("an expected saving above enter is an offer, one of at most leave never is", () => {
  const seen = { offers: 0, none: 0, between: 0 };
  fc.assert(
    fc.property(
      anyGainsMethod,
      anyMargin,
      anyVisit,
      soundRequest,
      historyOf(soundSeen),
      (method, margin, visit, request, history) => {
        const policy = adaptivePolicy({ method, margin, visit });
        const { advertise, saving } = decide(request, history, policy, NOON_MS, undefined);
        if (saving === undefined) return;
        expect(saving.deviation).toBeGreaterThanOrEqual(0);
        if (saving.gain > margin.enter) {
          expect(advertise.kind).toBe("h3");
          seen.offers++;
        } else if (saving.gain <= margin.leave) {
          expect(advertise.kind).not.toBe("h3");
          seen.none++;
        } else seen.between++;
      },
    ),
    { numRuns: 500 },
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});

it("a reason never says the opposite of the expected gain beside it", () => {
  const seen = { slower: 0, faster: 0 };
  fc.assert(
    fc.property(
      anyPolicy,
      requestOf(anyNumber),
      historyOf(seenOf(anyNumber)),
      anyGainsMethod,
      soundRequest,
      historyOf(soundSeen),
      (policy, anyRequest, anyHistory, method, request, history) => {
        const sound = { ...policy, mode: "adaptive", rules: [], method } as const;
        for (const { advertise, reason, saving } of [
          decide(anyRequest, anyHistory, policy, NOON_MS, undefined),
          decide(request, history, sound, NOON_MS, undefined),
        ]) {
          if (saving === undefined) continue;
          if (reason === "h3-faster") expect(saving.gain).toBeGreaterThan(0);
          if (reason === "h2-faster") expect(saving.gain > 0).toBe(false);
          if (reason === "within-margin" && advertise.kind === "h3") seen.slower++;
          else if (reason === "within-margin") seen.faster++;
        }
      },
    ),
    { numRuns: 500 },
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});

it("what is thought of a client is made of probabilities, whatever was measured", () => {
  fc.assert(
    fc.property(anyGainsMethod, soundRequest, historyOf(seenOf(anyNumber)), (method, request, history) => {
      const { lossRatio = 0, quicAlone = 0 } = decide(request, history, adaptivePolicy({ method }), NOON_MS, undefined);
      for (const one of [lossRatio, quicAlone]) {
        expect(one).toBeGreaterThanOrEqual(0);
        expect(one).toBeLessThanOrEqual(1 + 1e-9);
      }
    }),
  );
});

it("whatever a request and a history hold, a decision is made, within the policy's bounds", () => {
  fc.assert(
    fc.property(
      anyPolicy,
      requestOf(anyNumber),
      historyOf(seenOf(anyNumber)),
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

/** Whether something speaks against HTTP/3: what was measured, a draw, or the operator's word. */
function speaksAgainst({ mode, reason, saving }: Decision, history: History, policy: Policy, shareUnit?: number) {
  if (mode === "fixed-h2" || reason === "udp-blocked" || reason === "exploration") return true;
  if (reason === "share" && policy.method?.kind === "share")
    return policy.method.share === 0 || shareUnit !== undefined;
  if (saving !== undefined) return saving.gain < 0 && history.state !== "late";
  return reason === "h2-faster";
}

it("whoever may hold an offer of what is known to be slower is told to drop it, unless nothing is touched", () => {
  const moment = fc.constantFrom(0, NOON_MS, NOON_MS + 1);
  fc.assert(
    fc.property(
      anyPolicy,
      requestOf(anyNumber),
      historyOf(soundSeen),
      moment,
      unit,
      (policy, anyRequest, history, offerUntilMs, drawn) => {
        const request = { ...anyRequest, offerUntilMs };
        const decision = decide(request, history, policy, NOON_MS, drawn);
        const { advertise, mode } = decision;
        if (mode === "observe" || !speaksAgainst(decision, history, policy, request.shareUnit))
          expect(advertise.kind).not.toBe("clear");
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

it("a broken RTT never leads to an offer over TCP", () => {
  const absurd = fc.oneof(broken, fc.constantFrom(1e300, Number.MAX_VALUE, Infinity));
  const withoutRtt = soundSeen.map(({ rttMs: _none, ...seen }): ConnectionSeen => seen);
  fc.assert(
    fc.property(
      anyPathMethod,
      anyMargin,
      soundRequest,
      absurd,
      historyOf(withoutRtt),
      (method, margin, request, rttMs, history) => {
        const policy = adaptivePolicy({ method, margin });
        const overTcp: RequestFacts = { ...request, rttMs, transport: "tcp" };
        expect(decide(overTcp, history, policy, NOON_MS, undefined).advertise.kind).not.toBe("h3");
      },
    ),
  );
});

it("counts of packets that no counter shows change no answer", () => {
  const brokenCounts = fc
    .tuple(soundSeen, fc.oneof(fc.record({ lost: broken }), fc.record({ packets: broken })))
    .map(([seen, counts]): ConnectionSeen => ({ ...seen, ...counts, bytes: 0 }));
  fc.assert(
    fc.property(
      anyGainsMethod,
      soundRequest,
      fc.array(brokenCounts, { maxLength: 8 }),
      (method, request, connections) => {
        const policy = adaptivePolicy({ method });
        const withRtt = { ...request, rttMs: request.rttMs ?? 50 };
        const [told, untold] = [connections, []].map((seen) =>
          decide(withRtt, { state: "known", connections: seen }, policy, NOON_MS, undefined),
        );
        expect(told).toEqual(untold);
      },
    ),
  );
});

it("near the boundary, in noise smaller than the gap between enter and leave, the answer flips at most once", () => {
  const seen = { flipped: 0, stayed: 0 };
  const visit = fc.record({
    /** Of the gap. */
    noise: number(-0.49, 0.49),
    follows: fc.boolean(),
    // An offer of ten seconds is still alive at the next visit.
    afterMs: fc.integer({ min: 1, max: 9_999 }),
  });
  fc.assert(
    fc.property(
      number(-0.2, 0.2),
      number(0.01, 0.3),
      number(-1, 2),
      fc.array(visit, { maxLength: 300, size: "max" }),
      (leave, gap, place, visits) => {
        const margin = { leave, enter: leave + gap };
        let offers = NO_OFFER;
        let nowMs = NOON_MS;
        let flips = 0;
        for (const { noise, follows, afterMs } of visits) {
          const gain = leave + (place + noise) * gap;
          const policy = adaptivePolicy({ margin, method: { ...GAINS, table: flatTable(gain, gain) } });
          const { offering, untilMs } = offersOf(offers, "o");
          const request: RequestFacts = {
            transport: offering && follows ? "quic" : "tcp",
            path: "/",
            rttMs: 50,
            offerUntilMs: untilMs,
            offering,
          };
          const { advertise } = decide(request, clientWith(0), policy, nowMs, undefined);
          if ((advertise.kind === "h3") !== offering) flips++;
          const offerUntilMs = advertise.kind === "h3" ? nowMs + advertise.maS * 1_000 : 0;
          offers = applyAnswer(offers, { origin: "o", atMs: nowMs, offerUntilMs });
          nowMs += afterMs;
        }
        expect(flips).toBeLessThanOrEqual(1);
        seen[flips === 1 ? "flipped" : "stayed"]++;
      },
    ),
    // One in twenty flips. So many that some do: of a hundred, none does once in 120 times.
    { numRuns: 500 },
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
});
