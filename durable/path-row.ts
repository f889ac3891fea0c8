import { type ClientState, EMPTY_CLIENT, readClientState } from "../policy-api/decision/levels.ts";
import { EMPTY_LEVEL, type LevelState, readLevelState, type UpperLevel } from "../policy-api/decision/mix.ts";
import { NO_OFFER, type OfferState, readOfferState } from "../policy-api/decision/offers.ts";
import { object, optional } from "../policy-api/decision/parse.ts";
import { type AssignedClient, readAssignedClient } from "../policy-api/visitors/assigned-client.ts";
import { type CountedPage, readCountedPages } from "../policy-api/visitors/counted-pages.ts";
import type { ClientKeys } from "./client-report.ts";
import { readStored } from "./database.ts";

/** A row as memory has it: of a client, or of a level above. What belongs to the other of the two is empty. */
export interface PathRow extends ClientPart {
  readonly level: LevelState;
  /** When the last report about it came: expiry and eviction go by it. */
  readonly lastAtMs: number;
  /** A client's network. Empty for rows of other levels. */
  readonly network: string;
}

interface ClientPart {
  readonly client: ClientState;
  readonly offers: OfferState;
  /** Pages of a client whose reports were counted within the hour. */
  readonly countedPages: readonly CountedPage[];
  /** What a client did in its period of assignment, as the sums of outcomes have it. Undefined: in no drawn arm so far. */
  readonly assigned?: AssignedClient | undefined;
}

/** Before the first report. */
export const EMPTY_ROW: PathRow = {
  client: EMPTY_CLIENT,
  level: EMPTY_LEVEL,
  offers: NO_OFFER,
  countedPages: [],
  lastAtMs: Number.POSITIVE_INFINITY,
  network: "",
};

const CLIENT_PREFIX = "client ";

export function clientKey(client: string): string {
  return CLIENT_PREFIX + client;
}

export function isClientKey(key: string): boolean {
  return key.startsWith(CLIENT_PREFIX);
}

/** The row of a level that this client belongs to. Undefined where that is not known. */
export function levelKey(level: UpperLevel, { network, asn }: Omit<ClientKeys, "client">): string | undefined {
  switch (level) {
    case "network":
      return networkKey(network);
    case "asn":
      return asn === undefined ? undefined : `asn ${asn}`;
    case "site":
      return "site";
  }
}

export function networkKey(network: string): string {
  return `network ${network}`;
}

const readClientPart = object<ClientPart>({
  client: readClientState,
  offers: readOfferState,
  countedPages: readCountedPages,
  assigned: optional(readAssignedClient),
});

/** A row's state as the table has it. */
export function stateText(key: string, { client, offers, countedPages, assigned, level }: PathRow): string {
  return JSON.stringify(isClientKey(key) ? { client, offers, countedPages, assigned } : level);
}

/** Undefined if it cannot be read. */
export function readState(key: string, text: string): Partial<PathRow> | undefined {
  if (isClientKey(key)) return readStored(text, readClientPart);
  const level = readStored(text, readLevelState);
  return level && { level };
}
