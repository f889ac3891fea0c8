import { CONNECTIONS, type ConnectionRecord, type Counters } from "./connections.ts";
import type { ClientState } from "./levels.ts";
import { NODES } from "./loss-nodes.ts";
import type { LevelState, Mix } from "./mix.ts";
import { IGNORED_MAX, ORIGINS_MAX, type OfferState, type OriginOffers } from "./offers.ts";
import { boolean, list, number, object, oneOf, optional, text } from "./parse.ts";
import { TRANSPORTS } from "./sample.ts";

const any = number(0, Number.MAX_VALUE);

const readMix = object<Mix>({ clients: list(any, NODES, NODES), asOfMs: any });

const COUNTERS = { packetsSent: any, packetsLost: any, bytesSent: any, busyMs: any } as const;

/** A client's connections, from a row, which is read like any input. */
export const readConnections = list(
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
);

export const readClientState = object<ClientState>({ connections: readConnections, given: readMix });

export const readLevelState = object<LevelState>({
  mix: readMix,
  given: optional(readMix),
  asn: optional(any),
  bornAtMs: any,
});

export const readOfferState = object<OfferState>({
  origins: list(
    object<OriginOffers>({ origin: text(64), untilMs: any, answeredAtMs: any, offering: boolean() }),
    0,
    ORIGINS_MAX,
  ),
  takenAtMs: any,
  ignoredAtMs: list(any, 0, IGNORED_MAX),
});
