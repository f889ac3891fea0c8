import fc from "fast-check";
import bbr from "../../policies/bbr.json" with { type: "json" };
import cubic from "../../policies/cubic.json" with { type: "json" };
import published from "../../policies/published.json" with { type: "json" };
import quicheBbr from "../../policies/quiche-bbr2/bbr.json" with { type: "json" };
import quicheCubic from "../../policies/quiche-cubic/cubic.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, parsePolicy, type Policy } from "../policy.ts";
import type { Transport } from "../sample.ts";
import {
  answersOf,
  drawnAnswersOf,
  drawnAt,
  DRAWS,
  drawnValueAt,
  notCompiled,
  type RttUnit,
  type RuleAnswers,
  valueAt,
} from "./answers.ts";

function policyOf(json: unknown): Policy {
  const parsed = parsePolicy(json);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

const SHIPPED = { bbr, cubic, published, quicheBbr, quicheCubic };
const TRANSPORTS = ["tcp", "quic"] as const satisfies Transport[];
const PER_MS = { ms: 1, us: 1_000 } as const satisfies Record<RttUnit, number>;

/** What compiled answers say at an RTT in their unit. */
function saidAt(answers: RuleAnswers, transport: Transport, rtt: number): string | undefined {
  const here = answers[transport].filter(
    ({ spans }) => spans === undefined || spans.some(({ from, to }) => from <= rtt && rtt < to),
  );
  expect(here.length).toBeLessThan(2);
  return here[0]?.value;
}

/** RTTs of a unit: each one up to 2,000, then steps of a thousandth, to above what a decision believes. */
function grid(unit: RttUnit): number[] {
  const rtts = Array.from({ length: 2_000 }, (_, i) => i + 1);
  for (let rtt = 2_000; rtt <= 61_000 * PER_MS[unit]; rtt = Math.ceil(rtt * 1.001)) rtts.push(rtt);
  return rtts;
}

/** The first RTT at which compiled answers say something else than the policy decides. */
function differenceOf(policy: Policy, unit: RttUnit, rtts: readonly number[]): string | undefined {
  const answers = answersOf(policy, unit);
  for (const transport of TRANSPORTS)
    for (const rtt of rtts) {
      const said = saidAt(answers, transport, rtt);
      if (said !== valueAt(policy, transport, rtt / PER_MS[unit]))
        return `over ${transport}, at ${rtt} ${unit}: ${said ?? "nothing"}`;
    }
  return undefined;
}

describe.each(Object.entries(SHIPPED))("%s", (_, json) => {
  it.each(["ms", "us"] as const)("says what the policy decides, at each RTT in %s", (unit) => {
    expect(differenceOf(policyOf(json), unit, grid(unit))).toBeUndefined();
  });
});

it("says what policies decide whose gains change their signs anywhere", () => {
  const gain = fc.double({ min: -0.3, max: 0.3, noNaN: true });
  const shape = cubic.method.table;
  const rtts = grid("us").filter((_, i) => i % 7 === 0);
  fc.assert(
    fc.property(
      fc.array(gain, { minLength: shape.rttMs.length, maxLength: shape.rttMs.length }),
      fc.array(gain, { minLength: shape.rttMs.length, maxLength: shape.rttMs.length }),
      (next, again) => {
        const each = (gains: readonly number[]) => shape.next.gain.map((losses) => losses.map(() => gains));
        const table = {
          ...shape,
          next: { ...shape.next, gain: each(next) },
          return: { ...shape.return, gain: each(again) },
        };
        expect(differenceOf(policyOf({ ...cubic, method: { ...cubic.method, table } }), "us", rtts)).toBeUndefined();
      },
    ),
    { numRuns: 20 },
  );
});

it("a mode that looks at nothing answers everywhere", () => {
  expect(answersOf({ ...INITIAL_POLICY, mode: "fixed-h3" }, "us")).toEqual({
    tcp: [{ value: 'h3=":443"; ma=3600' }],
    quic: [{ value: 'h3=":443"; ma=3600' }],
  });
  expect(answersOf({ ...INITIAL_POLICY, mode: "fixed-h2" }, "ms")).toEqual({ tcp: [], quic: [{ value: "clear" }] });
});

it("a threshold is one span, up to what is believed", () => {
  const policy: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs: 40 } };
  const value = 'h3=":443"; ma=60';
  expect(answersOf(policy, "ms").tcp).toEqual([{ value, spans: [{ from: 40, to: 60_001 }] }]);
  expect(answersOf(policy, "us").tcp).toEqual([{ value, spans: [{ from: 40_000, to: 60_000_001 }] }]);
  expect(answersOf(policy, "ms").quic).toEqual([
    { value: "clear", spans: [{ from: 1, to: 40 }] },
    { value, spans: [{ from: 40, to: 60_001 }] },
  ]);
});

describe("arms", () => {
  const plain = policyOf(cubic);
  /** What drawn answers say at a draw, as arm and value. */
  const drawn = (policy: Policy, draw: number): string | undefined => {
    const here = drawnAnswersOf(policy).filter(({ from, to }) => from <= draw && draw < to);
    expect(here.length).toBeLessThan(2);
    return here[0] && `${here[0].arm} ${here[0].value}`;
  };
  /** The same as the worker draws and answers. */
  const ofWorker = (policy: Policy, draw: number): string[] =>
    TRANSPORTS.map((transport) => `${drawnAt(policy, draw)} ${drawnValueAt(policy, transport, draw)}`);

  it.each<[what: string, policy: Policy]>([
    ["exploration of 4 %", { ...plain, exploration: { share: 0.04 } }],
    ["exploration of all", { ...plain, exploration: { share: 1 } }],
    ["exploration of the least share", { ...plain, exploration: { share: 0.0002 } }],
    ["a share of a third", { ...plain, method: { kind: "share", share: 1 / 3 } }],
    ["a share of nearly all", { ...plain, method: { kind: "share", share: 0.999 } }],
  ])("%s: 100,000 draws say what the worker's draw says there, over TCP and over QUIC", (_, policy) => {
    const ends = drawnAnswersOf(policy).flatMap(({ from, to }) => [from - 1, from, to - 1, to]);
    const everywhere = Array.from({ length: 100_000 }, (_unused, i) => i * (DRAWS / 100_000) + (i % 10));
    const wrong = [...ends, ...everywhere].filter((draw) => {
      if (draw < 0 || draw >= DRAWS) return false;
      const expected = drawnAt(policy, draw) === undefined ? undefined : ofWorker(policy, draw);
      const said = drawn(policy, draw);
      return expected === undefined ? said !== undefined : expected.some((one) => one !== said);
    });
    expect(wrong).toEqual([]);
  });

  it("offers as long as the policy's longest offer, and withholds by clear", () => {
    expect(drawnAnswersOf({ ...plain, exploration: { share: 0.04 } })).toEqual([
      { arm: "offer", from: 0, to: 20_000, value: `h3=":443"; ma=${plain.ma.maxS}` },
      { arm: "withhold", from: 980_000, to: DRAWS, value: "clear" },
    ]);
  });

  it("are none where nobody draws", () => {
    const none: readonly Policy[] = [
      plain,
      { ...plain, method: { kind: "share", share: 1 } },
      { ...INITIAL_POLICY, mode: "fixed-h3" },
    ];
    for (const policy of none) expect(drawnAnswersOf(policy)).toEqual([]);
  });
});

describe("what no rule can do is named", () => {
  const plain = policyOf(cubic);
  it.each<[pointer: string, policy: Policy]>([
    ["/mode", INITIAL_POLICY],
    ["/method/kind", { ...plain, method: { kind: "share", share: 0.5 } }],
    ["/exploration/share", { ...plain, exploration: { share: 0.1 } }],
    ["/reports/share", { ...plain, reports: { share: 1, inject: false } }],
    ["/contentBytes/routes", { ...plain, contentBytes: { default: 1e6, routes: [{ pathPrefix: "/a", bytes: 1e5 }] } }],
    ["/rules", { ...plain, rules: [{ pathPrefix: "/a", mode: "fixed-h2" }] }],
  ])("%s", (pointer, policy) => {
    expect(notCompiled(policy, false).map((fault) => fault.pointer)).toEqual([pointer]);
  });

  it.each<[pointer: string, policy: Policy, message: string]>([
    [
      "/exploration/share",
      { ...plain, method: { kind: "share", share: 0.5 }, exploration: { share: 0.1 } },
      "a rule draws a client once",
    ],
    ["/exploration/share", { ...INITIAL_POLICY, mode: "fixed-h3", exploration: { share: 0.1 } }, "a fixed mode has no"],
    ["/exploration/share", { ...plain, exploration: { share: 0.0001 } }, "a rule draws by millionths"],
    ["/reports/share", { ...plain, reports: { share: 1, inject: false } }, "only those of clients that it draws"],
    [
      "/reports/share",
      { ...plain, exploration: { share: 0.1 }, reports: { share: 0.5, inject: false } },
      "it must be 1 or 0",
    ],
    [
      "/reports/inject",
      { ...plain, exploration: { share: 0.1 }, reports: { share: 1, inject: true } },
      "a rule cannot put the script into pages",
    ],
  ])("%s, also where rules draw", (pointer, policy, message) => {
    expect(notCompiled(policy, true)).toEqual([{ pointer, message: expect.stringContaining(message) as string }]);
  });

  it("no draw where rules can draw", () => {
    expect(notCompiled({ ...plain, exploration: { share: 0.1 } }, true)).toEqual([]);
    const reports = { share: 1, inject: false };
    expect(notCompiled({ ...plain, exploration: { share: 0.1 }, reports }, true)).toEqual([]);
    expect(notCompiled({ ...plain, method: { kind: "share", share: 0.1 } }, true)).toEqual([]);
  });

  it.each(Object.entries(SHIPPED))("nothing of %s", (_, json) => {
    expect(notCompiled(policyOf(json), false)).toEqual([]);
  });
});
