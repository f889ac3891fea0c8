import { counts, type LoadRow } from "../../model/load-row.ts";
import { QUIC_SENDERS, type QuicSender, type Sender, senderOf } from "../../model/senders.ts";
import { type Congestion, CONGESTIONS } from "../../model/congestion.ts";
import { mean } from "../statistics/summary.ts";

/** ln of a mean time, milliseconds, or of a ratio of two, and its standard error. */
export interface LogTime {
  readonly log: number;
  readonly se: number;
}

/** How long one sender's pages take at a place. */
export interface SenderTimes {
  readonly n: number;
  /** A first page, with the connection's set-up. */
  readonly first: LogTime;
  /** The same without the set-up: over a connection that was opened meanwhile. */
  readonly opened: LogTime;
  /** A later page. */
  readonly later: LogTime;
}

/** A network and a size, and what each sender that has enough loads takes there. */
export interface SenderPlace {
  readonly rttMs: number;
  readonly lossRatio: number;
  readonly contentBytes: number;
  readonly times: Readonly<Partial<Record<Sender, SenderTimes>>>;
}

/** Who sends over TCP and who over QUIC. */
export interface Stack {
  readonly tcp: Congestion;
  readonly quic: QuicSender;
}

/** Loads of each kind without which a place has no spread to speak of. */
const LOADS_MIN = 3;
/** Even the same load twice differs by this much, in the logarithm: below it a spread is luck. */
const SPREAD_FLOOR = 0.01;

/** Gathers rows of visits (flow `visit` of the senders' arms) by network and size. Pure. */
export function placesOf(rows: readonly LoadRow[]): SenderPlace[] {
  const visits = rows.filter((row) => row.flow === "visit" && counts(row));
  const byPlace = Map.groupBy(visits, ({ delayMs, lossRatio, imageBytes }) => `${delayMs} ${lossRatio} ${imageBytes}`);
  return [...byPlace.values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    const times = [...Map.groupBy(own, ({ arm, congestion }) => senderOf(arm, congestion))].flatMap(
      ([sender, loads]) => {
        const found = sender === undefined ? undefined : timesOf(loads);
        return sender === undefined || found === undefined ? [] : [[sender, found] as const];
      },
    );
    const { delayMs, lossRatio, imageBytes } = first;
    return [{ rttMs: 2 * delayMs, lossRatio, contentBytes: imageBytes, times: Object.fromEntries(times) }];
  });
}

function timesOf(rows: readonly LoadRow[]): SenderTimes | undefined {
  const pages = rows.flatMap(({ pagesMs, handshakeMs }) => {
    const [first, later] = pagesMs.split(";").map(Number);
    return first === undefined || later === undefined || handshakeMs === null ? [] : [{ first, later, handshakeMs }];
  });
  if (pages.length < LOADS_MIN) return undefined;
  return {
    n: pages.length,
    first: logMean(pages.map(({ first }) => first)),
    opened: logMean(pages.map(({ first, handshakeMs }) => first - handshakeMs)),
    later: logMean(pages.map(({ later }) => later)),
  };
}

/** ln of the mean, and its standard error by the delta method: s / (sqrt(n) mean). */
export function logMean(times: readonly number[]): LogTime {
  const average = mean(times);
  const variance = times.reduce((sum, time) => sum + (time - average) ** 2, 0) / (times.length - 1);
  const spread = Math.max(Math.sqrt(variance) / average, SPREAD_FLOOR);
  return { log: Math.log(average), se: spread / Math.sqrt(times.length) };
}

/** ln(HTTP/2's time / HTTP/3's). The two were measured apart, so that their errors are independent. */
export function gainOf(h2: LogTime, h3: LogTime): LogTime {
  return { log: h2.log - h3.log, se: Math.hypot(h2.se, h3.se) };
}

/** Browsers and servers end a QUIC connection that has rested for so long, milliseconds; a TCP connection lives on. */
export const QUIC_IDLE_MS = 30_000;

/**
 * Which next pages a visit has: of 1.2 on average 0.55 come right after the first one. A third of the pauses are longer than
 * QUIC's idle time (lognormal around 20 s, deviation 1): the shares of either kind before it, and of all after it.
 */
export const NEXT_PAGES = { opened: 0.3, later: 0.36, reopened: 0.34 } as const;

/** What HTTP/3 gains, of both senders' times at a place. */
export const GAINS = {
  /** Of a return's first page. */
  return: (h2: SenderTimes, h3: SenderTimes): LogTime => gainOf(h2.first, h3.first),
  /** Of the page after the offer: HTTP/2's later page, HTTP/3's first one over a connection that is open already. */
  opened: (h2: SenderTimes, h3: SenderTimes): LogTime => gainOf(h2.later, h3.opened),
  /** Of the pages after that one: over connections that both carried a page before. */
  later: (h2: SenderTimes, h3: SenderTimes): LogTime => gainOf(h2.later, h3.later),
  /** Of a page after a pause that ended the QUIC connection and not the TCP connection. */
  reopened: (h2: SenderTimes, h3: SenderTimes): LogTime => gainOf(h2.later, h3.first),
  /** Of a next page, whichever it is. All three kinds have HTTP/2's later page, whose error they share. */
  next: (h2: SenderTimes, h3: SenderTimes): LogTime => {
    const { opened, later, reopened } = NEXT_PAGES;
    const quic = opened * h3.opened.log + later * h3.later.log + reopened * h3.first.log;
    const se = Math.hypot(h2.later.se, opened * h3.opened.se, later * h3.later.se, reopened * h3.first.se);
    return { log: h2.later.log - quic, se };
  },
} as const;

/** Every pair of senders that share a place. */
export function stacksOf(places: readonly SenderPlace[]): Stack[] {
  return CONGESTIONS.flatMap((tcp) => QUIC_SENDERS.map((quic) => ({ tcp, quic }))).filter(({ tcp, quic }) =>
    places.some(({ times }) => times[tcp] && times[quic]),
  );
}
