import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../../policy-api/decision/policy.ts";
import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { seededRandom } from "../statistics/random.ts";
import { always, byPolicy, clairvoyant, DAY_S, flexHttp, never, toldOfMoves } from "./contenders.ts";
import {
  BBR_FOR_ALL,
  CLASSES,
  classesOf,
  gainsOf,
  type JudgeInput,
  ONE_BIT,
  ORACLE,
  OURS,
  SAME_SIGHT,
  scoresOf,
} from "./judge.ts";
import { type Contender, drawLife, type Life, play } from "./play.ts";
import { CLIENTS, DESCRIPTION, playing, STACK } from "./testing.ts";

const life = (pagesAtS: readonly (readonly number[])[], over: Partial<Life> = {}): Life => ({
  visits: pagesAtS.map((pages) => ({ pagesAtMs: pages.map((s) => 1_000 * s), movedBy: undefined })),
  isUdpBlocked: false,
  policedLossRatio: 0,
  others: 0,
  ...over,
});
const times = (contender: Contender, of: Life, index = 1) =>
  play(index, of, contender, playing(), seededRandom(1, "test")).map(({ ms }) => Math.round(ms));

describe("play", () => {
  const visit = [0, 10, 20];
  it("never offered: every page as it is over HTTP/2", () => {
    expect(times(never, life([visit]))).toEqual([1_100, 1_000, 1_000]);
  });

  it("offered: the page at hand pays its price, the next one is over a new connection, then later ones", () => {
    expect(times(always, life([visit]))).toEqual([Math.round(1_100 * Math.exp(0.25)), 507, 500]);
  });

  it("a return while the offer lives begins on HTTP/3, and after it on HTTP/2", () => {
    expect(times(() => 3_600, life([[0], [600]]))[1]).toBe(600);
    expect(times(() => 60, life([[0], [600]]))[1]).toBe(Math.round(1_100 * Math.exp(0.25)));
  });

  it("after a pause of half a minute the QUIC connection is set up anew", () => {
    expect(times(always, life([[0, 31, 62, 70]])).slice(1)).toEqual([600, 600, 500]);
  });

  it("taken back: the next page is HTTP/2's again", () => {
    let page = 0;
    expect(times(() => (page++ === 0 ? 60 : 0), life([visit]))).toEqual([1_412, 507, 1_000]);
  });

  it("where UDP is blocked an offer changes nothing", () => {
    expect(times(always, life([visit], { isUdpBlocked: true }))).toEqual([1_100, 1_000, 1_000]);
  });

  it("tells a contender what was measured, and no packets where nobody counts them", () => {
    const seen: number[] = [];
    const asked: Contender = ({ history: { connections = [] } }) => {
      seen.push(connections.reduce((sum, { packets }) => sum + packets, 0));
      return 0;
    };
    play(1, life([visit]), asked, playing(), seededRandom(1, "test"));
    play(1, life([visit]), asked, playing({ countsPackets: false }), seededRandom(1, "test"));
    expect(seen).toEqual([0, 1_000, 2_000, 0, 0, 0]);
  });

  it("an edge that rehearses shows what the network drops of UDP before a page depends on it, unless the next one comes at once", () => {
    const lostOverQuic = (policedLossRatio: number, nextAtS: number): number[] => {
      const lost: number[] = [];
      const asked: Contender = ({ history: { connections = [] } }) => {
        const quic = connections.filter(
          ({ packets, transport, ageMs }) => packets > 0 && transport === "quic" && ageMs >= 0,
        );
        lost.push(quic.reduce((sum, { packets, lost: of }) => sum + of / packets, 0));
        return 60;
      };
      play(0, life([[0, nextAtS]], { policedLossRatio }), asked, playing({ rehearses: true }), seededRandom(1, "test"));
      return lost;
    };
    expect(lostOverQuic(0, 10)).toEqual([0, 0]);
    expect(lostOverQuic(0.1, 10)[1]).toBeCloseTo(0.1, 1);
    expect(lostOverQuic(0.1, 2)).toEqual([0, 0]);
  });

  it("an edge that rehearses asks a browser to leave: a page whose answer takes the offer back is HTTP/2's", () => {
    const twice = (rehearses: boolean): number[] => {
      let page = 0;
      const once: Contender = () => (page++ === 0 ? 60 : 0);
      return play(1, life([[0, 10, 20]]), once, playing({ rehearses }), seededRandom(1, "test")).map(({ ms }) =>
        Math.round(ms),
      );
    };
    expect(twice(false)).toEqual([1_412, 507, 1_000]);
    expect(twice(true)).toEqual([1_412, 1_000, 1_000]);
  });

  it("a client that moved is not known, and its pages are those of the other path", () => {
    const moved: Life = {
      ...life([[0], [600]]),
      visits: [
        { pagesAtMs: [0], movedBy: undefined },
        { pagesAtMs: [600_000], movedBy: 1 },
      ],
    };
    const known: number[] = [];
    const asked: Contender = ({ history: { connections = [] }, client: index }) => {
      known.push(index, connections.filter(({ packets }) => packets > 0).length);
      return 0;
    };
    play(0, moved, asked, playing(), seededRandom(1, "test"));
    expect(known).toEqual([0, 0, 1, 0]);
  });
});

describe("contenders", () => {
  it("told of a move, an offer that would live longer ends within the least life", () => {
    const decides = toldOfMoves({ ...INITIAL_POLICY, mode: "fixed-h3", ma: { minS: 60, maxS: 86_400 } });
    const asked = { transport: "tcp", rttMs: 50, contentBytes: 1e6, nowMs: 1e12, client: 0 } as const;
    const of = (movesNext: boolean): number =>
      decides({ ...asked, history: { state: "unknown" }, offerUntilMs: 0, answeredAtMs: 0, movesNext });
    expect([of(true), of(false)]).toEqual([60, 86_400]);
  });

  it("FlexHTTP's forest is read in the region of what was measured", () => {
    const forest = {
      axes: { rttMsThresholds: [65], lossPercentThresholds: [0.5], rateMbitPerSThresholds: [30] },
      probabilityHttp3: [
        [
          [0.1, 0.2],
          [0.9, 0.3],
        ],
        [
          [0.4, 0.4],
          [0.4, 0.6],
        ],
      ],
    };
    const asked = (rttMs: number, lost: number, deliveryRateBps: number) => ({
      ...({ transport: "tcp", contentBytes: 1, offerUntilMs: 0, answeredAtMs: 0, nowMs: 0 } as const),
      client: 0,
      movesNext: false,
      rttMs,
      history: {
        state: "known" as const,
        connections: [{ transport: "tcp" as const, ageMs: 0, packets: 100, lost, deliveryRateBps }],
      },
    });
    expect(flexHttp(forest)(asked(65, 1, 1e6))).toBe(DAY_S);
    expect(flexHttp(forest)(asked(66, 1, 1e6))).toBe(0);
    expect(flexHttp(forest)(asked(66, 1, 1e7))).toBe(DAY_S);
  });
});

/** Ours, with a table that is right about these clients. */
const OURS_POLICY: Policy = {
  ...INITIAL_POLICY,
  mode: "adaptive",
  method: {
    kind: "gains",
    table: {
      rttMs: [50],
      lossRatio: LOSS_NODES,
      contentBytes: [1e6],
      next: { gain: [[[-0.1], [-0.1], [-0.05], [0], [0.4], [0.7]]], se: [LOSS_NODES.map(() => [0.01])] },
      return: { gain: [[[-0.1], [-0.1], [-0.05], [0], [0.4], [0.7]]], se: [LOSS_NODES.map(() => [0.01])] },
      price: [0],
      priceSe: [0.01],
    },
    mix: [0.7, 0.1, 0.06, 0.075, 0.05, 0.015],
  },
};
const input = (over: Partial<JudgeInput> = {}): JudgeInput => ({
  clients: CLIENTS,
  description: DESCRIPTION,
  stack: STACK,
  ours: OURS_POLICY,
  others: {},
  price: () => 0,
  withReturns: true,
  countsPackets: true,
  rehearses: false,
  weightOf: () => 1,
  seed: 1,
  ...over,
});

describe("the judge", () => {
  const judged = gainsOf(input());
  const scores = scoresOf([judged], seededRandom(1, "scores"));
  const gain = (name: string) => scores.find(({ contender }) => contender === name)?.gain.estimate ?? Number.NaN;

  it("never gains nothing, and who knows each client gains most", () => {
    expect(gain("never")).toBe(0);
    // Another lever is no choice of a protocol.
    const choices = scores.filter(({ contender }) => contender !== BBR_FOR_ALL);
    for (const { contender } of choices) expect(gain(contender)).toBeLessThanOrEqual(gain(ORACLE) + 1e-9);
    expect(gain(ORACLE)).toBeGreaterThan(0);
  });

  it("ours is ahead by the difference of the gains, on the same clients", () => {
    for (const { oursAhead, gain: its } of scores) {
      expect(oursAhead.estimate).toBeCloseTo(gain(OURS) - its.estimate, 12);
      expect(oursAhead.low).toBeLessThanOrEqual(oursAhead.high);
    }
    expect(scores.find(({ contender }) => contender === OURS)?.oursAhead).toEqual({ estimate: 0, low: 0, high: 0 });
  });

  it("one bit is the better of never and always", () => {
    expect(gain(ONE_BIT)).toBeCloseTo(Math.max(gain("always"), 0), 9);
  });

  it("the other lever gains what bbr's pages take less, and no client is offered anything", () => {
    for (const own of judged.gains[BBR_FOR_ALL] ?? []) expect(own).toBeCloseTo(Math.log(2), 1);
    const onBbr = gainsOf(input({ stack: { tcp: "bbr", quic: "quic-go" } }));
    expect(onBbr.gains[BBR_FOR_ALL]).toEqual(onBbr.gains["never"]);
  });

  it("ours offers to the lossy client alone, once it has seen it lose", () => {
    expect(judged.gains[OURS]?.[0]).toBeCloseTo(0, 9);
    expect(judged.gains[OURS]?.[2]).toBeCloseTo(0, 9);
    expect(judged.gains[OURS]?.[1]).toBeGreaterThan(0.1);
    expect(judged.gains[OURS]?.[1]).toBeLessThan(judged.gains[ORACLE]?.[1] ?? 0);
  });

  it("tells for which clients: HTTP/3 gains where packets are lost, and loses for others", () => {
    const classes = classesOf([judged]);
    expect(classes.map(({ of }) => of)).toEqual(CLASSES);
    expect(classes.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    const gainIn = (of: string, name: string) => classes.find((one) => one.of === of)?.gains[name] ?? Number.NaN;
    for (const of of CLASSES) expect(gainIn(of, "never")).toBe(0);
    expect(gainIn("0.1 % lost or more", OURS)).toBeGreaterThan(0.1);
    const udp = { ...DESCRIPTION.udp, policed: 0.5 };
    const [policed] = classesOf([gainsOf(input({ description: { ...DESCRIPTION, udp } }))]);
    expect(policed?.share).toBeGreaterThan(0.3);
    expect(policed?.gains["always"]).toBeLessThan(policed?.gains[OURS] ?? Number.NaN);
    const [rehearsed] = classesOf([gainsOf(input({ description: { ...DESCRIPTION, udp }, rehearses: true }))]);
    expect(rehearsed?.gains[OURS]).toBeGreaterThan(policed?.gains[OURS] ?? Number.NaN);
    expect(rehearsed?.gains["always"]).toBe(policed?.gains["always"]);
    // Twice the same stack: their gains are summed.
    const lossy = classesOf([judged, judged]).find(({ of }) => of === "0.1 % lost or more");
    expect(lossy?.gains[OURS]).toBeCloseTo(2 * gainIn("0.1 % lost or more", OURS));
  });

  it("the best with the same sight lies between, and shares are of it", () => {
    const sight = scores.find(({ contender }) => contender === SAME_SIGHT);
    expect(sight?.shareOfSameSight).toBe(1);
    expect(gain(SAME_SIGHT)).toBeLessThanOrEqual(gain(ORACLE) + 1e-9);
  });

  it("is the same again, and other clients weigh differently", () => {
    expect(gainsOf(input())).toEqual(judged);
    const weighed = scoresOf(
      [gainsOf(input({ weightOf: ({ lossRatio }) => (lossRatio > 0 ? 5 : 1) }))],
      seededRandom(1, "scores"),
    );
    expect(weighed.find(({ contender }) => contender === OURS)?.gain.estimate).toBeGreaterThan(gain(OURS));
  });
});

it("the oracle's choice is by the times that it is given", () => {
  const { times: given } = playing();
  const asked = (index: number) => clairvoyant({ times: given })({ client: index } as Parameters<Contender>[0]);
  expect([0, 1, 2].map(asked)).toEqual([0, DAY_S, 0]);
  expect(byPolicy({ ...INITIAL_POLICY, mode: "fixed-h3" })).toBeTypeOf("function");
});

describe("drawLife", () => {
  const lives = Array.from({ length: 500 }, (_, i) =>
    drawLife(
      { ...DESCRIPTION, udp: { blocked: 0.1, policed: 0, policedLossRatio: [0.02, 0.2] } },
      64,
      true,
      seededRandom(1, "life", i),
    ),
  );
  it("has the pages, returns and blocked networks that are described", () => {
    const share = (test: (one: Life) => boolean) => lives.filter(test).length / lives.length;
    expect(share(({ visits }) => visits[0]?.pagesAtMs.length === 1)).toBeCloseTo(0.25, 1);
    expect(share(({ visits }) => visits.length > 1)).toBeCloseTo(0.5, 1);
    expect(share(({ isUdpBlocked }) => isUdpBlocked)).toBeCloseTo(0.1, 1);
    expect(Math.max(...lives.map(({ visits }) => visits.length))).toBe(3);
  });

  it("never goes back in time", () => {
    for (const { visits } of lives) {
      const all = visits.flatMap(({ pagesAtMs }) => pagesAtMs);
      expect(all).toEqual(all.toSorted((a, b) => a - b));
    }
  });
});
