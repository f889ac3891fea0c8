import { addSample, type ConnectionRecord } from "../../../policy-api/decision/connections.ts";
import type { History } from "../../../policy-api/decision/facts.ts";
import { historyAt } from "../../../policy-api/decision/history.ts";
import type { PathSample, Transport } from "../../../policy-api/decision/sample.ts";
import { QUIC_IDLE_MS, type Stack } from "../senders/places.ts";
import { integer, normal, type Random } from "../statistics/random.ts";
import type { MeasuredClient, MeasuredLoad, PageTimes } from "./truth.ts";
import type { PopulationDescription } from "../../model/population.ts";

/** What a contender knows when a page is asked for. */
export interface Situation {
  readonly transport: Transport;
  readonly rttMs: number;
  readonly contentBytes: number;
  readonly history: History;
  /** Until when the client may hold an offer, and when it was last answered; 0: never. Milliseconds. */
  readonly offerUntilMs: number;
  readonly answeredAtMs: number;
  readonly nowMs: number;
  /** For references that are told who it is, and whether its next visit comes over another path. */
  readonly client: number;
  readonly movesNext: boolean;
}

/** Seconds that an offer lives; 0: none, and an older one is taken back. */
export type Contender = (asked: Situation) => number;

/** One page view: what it took, and what it would have taken over HTTP/2, milliseconds. */
export interface View {
  readonly ms: number;
  readonly neverMs: number;
}

export interface Playing {
  readonly clients: readonly MeasuredClient[];
  readonly stack: Stack;
  /** Mean times that views are scored by: of each client, of both senders. */
  readonly times: readonly { readonly h2: PageTimes; readonly h3: PageTimes }[];
  /** What the page at hand loses to an offer, at an RTT: a logarithm. */
  readonly price: (rttMs: number) => number;
  /** Whether anybody counts packets: Cloudflare's worker sees none. */
  readonly countsPackets: boolean;
  /**
   * Whether the edge tries a QUIC connection before a page depends on it (infra/edge/internal/rehearsal). By `clear` it also asks a browser to
   * leave: the files of that page come over HTTP/2.
   */
  readonly rehearses: boolean;
}

const NOON_MS = 1_800_000_000_000;

/**
 * Lets a contender decide on every page of a client's life. A page that brings an offer stays on HTTP/2; the next one of the
 * visit comes over HTTP/3, and so does a return while the offer lives. After `clear` pages are HTTP/2's again.
 */
export function play(
  index: number,
  life: Life,
  contender: Contender,
  { clients, stack, times, price, countsPackets, rehearses }: Playing,
  random: Random,
): View[] {
  const views: View[] = [];
  let known: readonly ConnectionRecord[] = [];
  let connections = 0;
  const learn = (of: MeasuredClient, transport: Transport, atMs: number): void => {
    const load = anyLoad(of, transport, stack, random);
    if (load === undefined) return;
    known = addSample(
      known,
      sampleOf(load, transport, ++connections, atMs, countsPackets, transport === "quic" ? policed : 0),
    );
  };
  let rehearsed: PathSample | undefined;
  let offerUntilMs = 0;
  let answeredAtMs = 0;
  let place = index;
  let policed = life.policedLossRatio;
  for (const [number, visit] of life.visits.entries()) {
    if (visit.movedBy !== undefined) {
      place = (index + visit.movedBy) % clients.length;
      known = [];
      rehearsed = undefined;
      // Another path: its network treats UDP as most do.
      policed = 0;
    }
    const client = clients[place];
    const own = times[place];
    if (client === undefined || own === undefined) continue;
    const beginsAtMs = NOON_MS + (visit.pagesAtMs[0] ?? 0);
    for (let other = 0; other < life.others; other++)
      learn(clients[(place + 7 * (other + 1)) % clients.length] ?? client, "tcp", beginsAtMs - 3_600_000 * random());
    let onQuic = offerUntilMs > beginsAtMs && !life.isUdpBlocked;
    let quicPages = 0;
    let beforeMs = 0;
    for (const [page, sinceMs] of visit.pagesAtMs.entries()) {
      // Before a return, and after a long pause, there is no QUIC connection any more.
      const isClosed = page === 0 || sinceMs - beforeMs > QUIC_IDLE_MS;
      beforeMs = sinceMs;
      const nowMs = NOON_MS + sinceMs;
      // A page that comes sooner ends it.
      if (rehearsed !== undefined && rehearsed.atMs <= nowMs) known = addSample(known, rehearsed);
      rehearsed = undefined;
      const transport: Transport = onQuic ? "quic" : "tcp";
      const load = anyLoad(client, transport, stack, random);
      const asked: Situation = {
        transport,
        rttMs: load?.rttMs ?? client.rttMs,
        contentBytes: client.bytes,
        history: historyAt(
          { client: { connections: known } },
          // The connection at hand has shown its RTT.
          [{ transport, connectionId: "now", atMs: nowMs, rttMs: load?.rttMs ?? client.rttMs, closing: false }],
          nowMs,
        ),
        offerUntilMs,
        answeredAtMs,
        nowMs,
        client: place,
        movesNext: life.visits[number + 1]?.movedBy !== undefined,
      };
      const maS = contender(asked);
      const neverMs = page === 0 ? own.h2.firstMs : own.h2.laterMs;
      const isPriced = maS > 0 && !onQuic && offerUntilMs <= nowMs && !life.isUdpBlocked;
      const quicTime = isClosed ? "firstMs" : quicPages === 0 ? "openedMs" : "laterMs";
      const overTcpMs = neverMs * (isPriced ? Math.exp(price(client.rttMs)) : 1);
      const isOverQuic = onQuic && !(rehearses && maS === 0);
      views.push({ ms: isOverQuic ? own.h3[quicTime] * policedSlowdown(policed) : overTcpMs, neverMs });
      if (isOverQuic) quicPages++;
      learn(client, isOverQuic ? "quic" : "tcp", nowMs + 1);
      if (maS > 0) offerUntilMs = Math.max(offerUntilMs, nowMs + 1_000 * maS);
      else offerUntilMs = 0;
      // A browser opens its QUIC connection beside the page that brought the offer. The edge samples it once it has tried it.
      const isTried = rehearses && maS > 0 && !onQuic && !life.isUdpBlocked;
      const quic = isTried ? anyLoad(client, "quic", stack, random) : undefined;
      if (quic !== undefined && load !== undefined) {
        const tcp = sampleOf(load, "tcp", 0, nowMs, countsPackets, 0);
        const atMs = nowMs + (views.at(-1)?.ms ?? 0) + REHEARSAL_MS;
        rehearsed = rehearsalOf(quic, tcp, `c${++connections}`, atMs, policed, random);
      }
      answeredAtMs = nowMs;
      onQuic = offerUntilMs > nowMs && !life.isUdpBlocked;
    }
  }
  return views;
}

function anyLoad(
  { loads }: MeasuredClient,
  transport: Transport,
  { tcp, quic }: Stack,
  random: Random,
): MeasuredLoad | undefined {
  const own = loads[transport === "tcp" ? tcp : quic] ?? [];
  return own[integer(own.length, random)];
}

/** How many times as long pages over HTTP/3 take where a network drops 2 and 20 % of UDP's packets (1 MB at 50 Mbit/s, cubic). */
const SLOWDOWNS = { at: [0.02, 0.2], times: [2.7, 17] } as const;

/** The same at another loss, linear between the logarithms; 1 without. */
function policedSlowdown(lossRatio: number): number {
  if (lossRatio <= 0) return 1;
  const [from, to] = SLOWDOWNS.at;
  const [little, much] = SLOWDOWNS.times;
  return little * (much / little) ** (Math.log(lossRatio / from) / Math.log(to / from));
}

/** What the edge counted of a page: half of what it counted of a load's two, and what the network dropped of UDP's alone. */
function sampleOf(
  { packets, lost, rttMs, laterMs, deliveryRateBps }: MeasuredLoad,
  transport: Transport,
  number: number,
  atMs: number,
  countsPackets: boolean,
  policed: number,
): PathSample {
  const sent = Math.round(packets / 2);
  const counted = { packetsSent: sent, packetsLost: Math.min(sent, Math.round(lost / 2 + policed * sent)) };
  return {
    transport,
    connectionId: `c${number}`,
    atMs,
    rttMs,
    ...(countsPackets
      ? { ...counted, bytesSent: counted.packetsSent * 1_400, busyMs: Math.round(laterMs * policedSlowdown(policed)) }
      : {}),
    deliveryRateBps,
    closing: true,
  };
}

/** After a page, until the worker knows what was lost: 0.3 s of rest, what is sent, and what was lost of it. */
const REHEARSAL_MS = 1_000;
/** Of 1,400 bytes: 128 kB, and 1 MB where QUIC loses so many times as much of it as TCP did. */
const REHEARSAL_PACKETS = { least: 94, most: 749, unlike: 3 } as const;

/** What the edge counts of a connection that it tries, as infra/edge/internal/rehearsal does: it says nothing of speed. */
function rehearsalOf(
  { packets, lost, rttMs }: MeasuredLoad,
  tcp: Pick<PathSample, "packetsSent" | "packetsLost">,
  connectionId: string,
  atMs: number,
  policed: number,
  random: Random,
): PathSample {
  const lossRatio = packets > 0 ? Math.min(1, lost / packets + policed) : policed;
  const { least, most, unlike } = REHEARSAL_PACKETS;
  const lostOf = (sent: number): number =>
    Array.from({ length: sent }, random).filter((unit) => unit < lossRatio).length;
  let [packetsSent, packetsLost]: [number, number] = [least, lostOf(least)];
  if (packetsLost * (tcp.packetsSent ?? 0) > unlike * (tcp.packetsLost ?? 0) * packetsSent) {
    packetsLost += lostOf(most - least);
    packetsSent = most;
  }
  return { transport: "quic", connectionId, atMs, rttMs, packetsSent, packetsLost, closing: false };
}

/** One visit of a client: its pages, and when each begins. */
export interface Visit {
  /** Since the beginning of the client's first visit, milliseconds. */
  readonly pagesAtMs: readonly number[];
  /**
   * Where it comes over another path, from another address, than the visit before: which client of the run it is there, as an offset
   * into the clients.
   */
  readonly movedBy: number | undefined;
}

/** What befalls one client, drawn before any policy decides. */
export interface Life {
  readonly visits: readonly Visit[];
  readonly isUdpBlocked: boolean;
  /** What its network drops of UDP's packets alone, 0 to 1. */
  readonly policedLossRatio: number;
  /** How many other devices are behind its address. */
  readonly others: number;
}

/** A chain of visits is cut here: the first, and two returns. */
const VISITS_MAX = 3;
/** Return times are lognormal around the described ones. */
const RETURN_DEVIATION = 0.3;

/** Draws a client's visits. @param withReturns false: one visit alone */
export function drawLife(
  { visit, udp, behindSharedAddress }: PopulationDescription,
  clients: number,
  withReturns: boolean,
  random: Random,
): Life {
  const pages = Object.entries(visit.pages);
  const returns = visit.returns.map(({ afterS, share }) => [afterS, share] as const);
  const visits: Visit[] = [];
  let atMs = 0;
  let isMoved = false;
  for (;;) {
    const pagesAtMs = [atMs];
    for (let page = 1; page < Number(fallsOn(pages, random()) ?? 1); page++) {
      const { median, sigma } = visit.pauseS.lognormal;
      const [low, high] = visit.pauseS.bounds;
      atMs += 1_000 * Math.min(Math.max(median * Math.exp(sigma * normal(random)), low), high);
      pagesAtMs.push(atMs);
    }
    visits.push({ pagesAtMs, movedBy: isMoved ? integer(clients, random) : undefined });
    const unit = random();
    const again = withReturns && visits.length < VISITS_MAX ? fallsOn(returns, unit) : undefined;
    if (again === undefined) break;
    atMs += 1_000 * again * Math.exp(RETURN_DEVIATION * normal(random));
    isMoved = random() < visit.newPathOnReturn;
  }
  const [least, most] = behindSharedAddress.devices;
  const isShared = random() < behindSharedAddress.share;
  const isUdpBlocked = random() < udp.blocked;
  const [low, high] = udp.policedLossRatio;
  return {
    visits,
    isUdpBlocked,
    policedLossRatio: random() < udp.policed ? low * (high / low) ** random() : 0,
    others: isShared ? least - 1 + integer(most - least + 1, random) : 0,
  };
}

/** What a unit falls on of things with their shares; undefined beyond the last. */
function fallsOn<T>(shares: readonly (readonly [T, share: number])[], unit: number): T | undefined {
  let left = unit;
  return shares.find(([, share]) => (left -= share) < 0)?.[0];
}
