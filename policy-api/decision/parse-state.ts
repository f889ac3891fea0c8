import { CONNECTIONS, type ConnectionRecord, type Counters } from "./connections.ts";
import type { ClientState } from "./levels.ts";
import { NODES } from "./loss-nodes.ts";
import type { LevelState, Mix } from "./mix.ts";
import { IGNORED_MAX, ORIGINS_MAX, type OriginOffers } from "./offers.ts";
import { boolean, list, number, object, oneOf, optional, parse, type Parsed, text } from "./parse.ts";
import { TRANSPORTS } from "./sample.ts";

const any = number(0, Number.MAX_VALUE);

const readMix = object<Mix>({ clients: list(any, NODES, NODES), asOfMs: any });

const COUNTERS = { packetsSent: any, packetsLost: any, bytesSent: any, busyMs: any } as const;

const readClientState = object<ClientState>({
  connections: list(
    object<ConnectionRecord>({
      id: text(64),
      transport: oneOf(...TRANSPORTS),
      atMs: any,
      rttMs: optional(any),
      deliveryRateBps: optional(any),
      closed: boolean(),
      ...COUNTERS,
      forgotten: optional(object<Counters>(COUNTERS)),
    }),
    0,
    CONNECTIONS,
  ),
  given: readMix,
});

const readLevelState = object<LevelState>({
  mix: readMix,
  given: optional(readMix),
  asn: optional(any),
  bornAtMs: any,
});

/** Reads the times when offers were ignored. Never throws on data. */
export function parseIgnored(input: unknown): Parsed<readonly number[]> {
  return parse(list(any, 0, IGNORED_MAX), input);
}

const readOrigins = list(
  object<OriginOffers>({ origin: text(64), untilMs: any, answeredAtMs: any, offering: boolean() }),
  0,
  ORIGINS_MAX,
);

/** Reads the offers of each origin. Never throws on data. */
export function parseOrigins(input: unknown): Parsed<readonly OriginOffers[]> {
  return parse(readOrigins, input);
}

/** Reads a client's state from a row, which is parsed like any input. Never throws on data. */
export function parseClientState(input: unknown): Parsed<ClientState> {
  return parse(readClientState, input);
}

/** Reads a level's state from a row, likewise. */
export function parseLevelState(input: unknown): Parsed<LevelState> {
  return parse(readLevelState, input);
}
