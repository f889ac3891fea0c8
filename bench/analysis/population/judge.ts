import type { PopulationDescription } from "../../model/population.ts";
import type { Policy } from "../../../policy-api/decision/policy.ts";
import { type Interval, percentileInterval } from "../statistics/bootstrap.ts";
import { halve, integer, type Random, seededRandom } from "../statistics/random.ts";
import { mean, quantile } from "../statistics/summary.ts";
import type { Stack } from "../senders/places.ts";
import { always, byPolicy, clairvoyant, never, nextGain, sameSight } from "./contenders.ts";
import { type Contender, drawLife, type Life, play, type Playing } from "./play.ts";
import { type MeasuredClient, timesOf } from "./truth.ts";

export interface JudgeInput {
  readonly clients: readonly MeasuredClient[];
  readonly description: PopulationDescription;
  readonly stack: Stack;
  /** The policy that is judged. */
  readonly ours: Policy;
  /** Beside never, always, one bit and the references, by name. */
  readonly others: Readonly<Record<string, Contender>>;
  readonly price: Playing["price"];
  readonly withReturns: boolean;
  readonly countsPackets: boolean;
  readonly rehearses: boolean;
  /** How much a client counts: another mix of the population than it was drawn from. */
  readonly weightOf: (client: MeasuredClient) => number;
  readonly seed: number;
}

export const OURS = "ours";
export const ALWAYS = "always";
export const ORACLE = "knows each client";
export const SAME_SIGHT = "best with the same sight";
export const ONE_BIT = "one bit";

/** No policy: the other lever. Every client gets HTTP/2 alone, by a server whose TCP has bbr. */
export const BBR_FOR_ALL = "HTTP/2 with bbr for all";

/** Lives of each client, and halvings of its loads. */
const LIVES = 30;
const HALVINGS = 4;

/** What a contender gained on one client: ln(never's time / its own), the mean over page views. */
export type Gains = Readonly<Record<string, readonly number[]>>;

/** Whom a page view is of: the first of these that it belongs to. */
export const CLASSES = [
  "UDP policed",
  "UDP blocked",
  "0.1 % lost or more",
  "RTT of 100 ms or more",
  "100 Mbit/s or more",
  "others",
] as const;
type Class = (typeof CLASSES)[number];

function classOf({ policedLossRatio, isUdpBlocked }: Life, { lossRatio, rttMs, rateMbps }: MeasuredClient): Class {
  if (policedLossRatio > 0) return "UDP policed";
  if (isUdpBlocked) return "UDP blocked";
  if (lossRatio >= 0.001) return "0.1 % lost or more";
  if (rttMs >= 100) return "RTT of 100 ms or more";
  return rateMbps >= 100 ? "100 Mbit/s or more" : "others";
}

/** Of the page views of a class: how many, each weighed as its client, and what a contender gained on them together. */
interface ClassSum {
  readonly views: number;
  readonly gain: number;
}

interface Played {
  readonly gains: Gains;
  readonly weights: readonly number[];
  /** By contender, then by class, in the order of CLASSES. */
  readonly classes: Readonly<Record<string, readonly ClassSum[]>>;
}

/**
 * Plays all contenders on the same lives of the same clients. What is chosen with sight of a client's own times is chosen
 * on one half of its loads and scored on the other. Pure.
 */
export function gainsOf(input: JudgeInput): Played {
  const { stack, ours, others, price, countsPackets, rehearses, weightOf, seed } = input;
  const clients = input.clients.filter(
    ({ loads }) => loads[stack.tcp] !== undefined && loads[stack.quic] !== undefined,
  );
  const sums: Record<string, number[]> = {};
  const classes: Record<string, ClassSum[]> = {};
  for (let halving = 0; halving < HALVINGS; halving++) {
    const halves = clients.map((client, i) => {
      const random = seededRandom(seed, "halves", stack.tcp, stack.quic, i, halving >> 1);
      const h2 = halve(client.loads[stack.tcp] ?? [], random);
      const h3 = halve(client.loads[stack.quic] ?? [], random);
      // A client without loads by bbr gains nothing by it.
      const { bbr } = client.loads;
      return { h2, h3, bbr: stack.tcp === "bbr" || bbr === undefined ? h2 : halve(bbr, random) };
    });
    const timesBy = (half: 0 | 1) => halves.map(({ h2, h3 }) => ({ h2: timesOf(h2[half]), h3: timesOf(h3[half]) }));
    const [scored, sighted] = halving % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    const playing: Playing = { clients, stack, times: timesBy(scored), price, countsPackets, rehearses };
    const seen: Playing = { ...playing, times: timesBy(sighted) };
    const contenders: Readonly<Record<string, Contender>> = {
      never,
      [ALWAYS]: always,
      [ONE_BIT]: oneBit(seen, weightOf),
      ...others,
      [OURS]: byPolicy(ours),
      [SAME_SIGHT]: sameSight(seen, ours),
      [ORACLE]: clairvoyant(seen),
    };
    const onBbr = halves.map(({ bbr, h3 }) => ({ h2: timesOf(bbr[scored]), h3: timesOf(h3[scored]) }));
    const played: (readonly [name: string, contender: Contender, on: Playing])[] = [
      ...Object.entries(contenders).map(([name, contender]) => [name, contender, playing] as const),
      [BBR_FOR_ALL, never, { ...playing, times: onBbr }],
    ];
    for (const [name, contender, on] of played) {
      const lives = livesOf(contender, on, playing, input, halving);
      const before = sums[name];
      sums[name] = lives.map((own, i) => (before?.[i] ?? 0) + mean(own.flatMap(({ gains }) => gains)) / HALVINGS);
      classes[name] = addTo(classes[name] ?? CLASSES.map(() => ({ views: 0, gain: 0 })), lives.flat());
    }
  }
  return { gains: sums, weights: clients.map(weightOf), classes };
}

function addTo(sums: readonly ClassSum[], lives: readonly PlayedLife[]): ClassSum[] {
  const byClass = Map.groupBy(lives, ({ of }) => of);
  return sums.map(({ views, gain }, i) => {
    const own = byClass.get(CLASSES[i] ?? "others") ?? [];
    return {
      views: views + own.reduce((sum, { weight, gains }) => sum + weight * gains.length, 0),
      gain: gain + own.reduce((sum, { weight, gains }) => sum + weight * gains.reduce((a, b) => a + b, 0), 0),
    };
  });
}

/** One life of a client, and what a contender gained on each of its page views over never offering on the stack at hand. */
interface PlayedLife {
  readonly of: Class;
  /** Of the client. */
  readonly weight: number;
  readonly gains: readonly number[];
}

/** All lives of each client. */
function livesOf(
  contender: Contender,
  on: Playing,
  atHand: Playing,
  { description, seed, withReturns, weightOf }: Pick<JudgeInput, "description" | "seed" | "withReturns" | "weightOf">,
  halving: number,
): PlayedLife[][] {
  return on.clients.map((client, i) =>
    Array.from({ length: LIVES }, (_, life) => {
      const random = seededRandom(seed, "life", i, life, withReturns ? "returns" : "one");
      const drawn = drawLife(description, on.clients.length, withReturns, random);
      const viewsOf = (who: Contender, where: Playing) =>
        play(i, drawn, who, where, seededRandom(seed, "play", i, life, halving));
      const views = viewsOf(contender, on);
      const before = on === atHand ? views : viewsOf(never, atHand);
      const gains = views.map(({ ms }, view) => Math.log((before[view]?.neverMs ?? Number.NaN) / ms));
      return { of: classOf(drawn, client), weight: weightOf(client), gains };
    }),
  );
}

/** Never or always offered, whichever is better for all clients together, by the half that is not scored. */
function oneBit({ clients, times }: Playing, weightOf: JudgeInput["weightOf"]): Contender {
  const gain = clients.reduce((sum, client, i) => {
    const own = times[i];
    return own === undefined ? sum : sum + weightOf(client) * nextGain(own);
  }, 0);
  return gain > 0 ? always : never;
}

/** A contender's figures over the population. */
export interface Score {
  readonly contender: string;
  /** The mean gain of a page view, with its 95 % interval over clients. */
  readonly gain: Interval;
  /** By how much ours gains more, on the same clients; 95 %. */
  readonly oursAhead: Interval;
  readonly p50: number;
  readonly p75: number;
  /** Of the clients, each with each stack, that gain if HTTP/3 is always offered. */
  readonly p75WhereFaster: number;
  /** What it gains over what the references gain. */
  readonly shareOfSameSight: number;
  readonly shareOfOracle: number;
}

/** What each contender gains on one class of clients: the mean of a page view, summed over stacks. */
export interface ClassScore {
  readonly of: Class;
  /** Of all page views. */
  readonly share: number;
  readonly gains: Readonly<Record<string, number>>;
}

/** What each contender gains by class of client, over several stacks. Pure. */
export function classesOf(all: readonly Pick<Played, "classes">[]): ClassScore[] {
  const views = CLASSES.map((_, i) => all[0]?.classes["never"]?.[i]?.views ?? 0);
  const total = views.reduce((sum, one) => sum + one, 0);
  return CLASSES.map((of, i) => ({
    of,
    share: (views[i] ?? 0) / total,
    gains: Object.fromEntries(
      Object.keys(all[0]?.classes ?? {}).map((contender) => [
        contender,
        all.reduce((sum, { classes }) => {
          const one = classes[contender]?.[i];
          return one === undefined || one.views === 0 ? sum : sum + one.gain / one.views;
        }, 0),
      ]),
    ),
  }));
}

/** Scores of one stack, or of several whose gains are summed. Pure. */
export function scoresOf(all: readonly Pick<Played, "gains" | "weights">[], random: Random): Score[] {
  const names = Object.keys(all[0]?.gains ?? {});
  const gainOf = (name: string, draws: readonly (readonly number[])[]): number =>
    all.reduce((sum, { gains, weights }, stack) => {
      const own = gains[name] ?? [];
      const drawn = draws[stack] ?? [];
      const total = drawn.reduce((n, i) => n + (weights[i] ?? 0), 0);
      return sum + drawn.reduce((n, i) => n + (weights[i] ?? 0) * (own[i] ?? 0), 0) / total;
    }, 0);
  const whole = all.map(({ weights }) => [...weights.keys()]);
  // The same clients are drawn for every stack and contender: they are compared on the same ones.
  const resamples = Array.from({ length: 400 }, () => {
    const count = whole[0]?.length ?? 0;
    const drawn = Array.from({ length: count }, () => integer(count, random));
    return whole.map((own) => drawn.filter((i) => i < own.length));
  });
  const [sight, oracle] = [gainOf(SAME_SIGHT, whole), gainOf(ORACLE, whole)];
  const whenAlways = all.flatMap(({ gains }) => gains[ALWAYS] ?? []);
  return names.map((contender) => {
    const gain = gainOf(contender, whole);
    const aheadOn = (draws: readonly (readonly number[])[]): number => gainOf(OURS, draws) - gainOf(contender, draws);
    const perClient = all.flatMap(({ gains }) => gains[contender] ?? []);
    const whereFaster = perClient.filter((_, i) => (whenAlways[i] ?? 0) > 0);
    return {
      contender,
      gain: percentileInterval(
        gain,
        resamples.map((draws) => gainOf(contender, draws)),
      ),
      oursAhead: percentileInterval(aheadOn(whole), resamples.map(aheadOn)),
      p50: quantile(perClient, 0.5),
      p75: quantile(perClient, 0.75),
      p75WhereFaster: whereFaster.length === 0 ? 0 : quantile(whereFaster, 0.75),
      shareOfSameSight: gain / sight,
      shareOfOracle: gain / oracle,
    };
  });
}
