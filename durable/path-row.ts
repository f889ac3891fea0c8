import { type ClientState, readClientState } from "../policy-api/decision/history.ts";
import { NO_OFFER, type OfferState, readOfferState } from "../policy-api/decision/offers.ts";
import { object, optional } from "../policy-api/decision/parse.ts";
import { type AssignedClient, readAssignedClient } from "../policy-api/visitors/assigned-client.ts";
import { type CountedPage, readCountedPages } from "../policy-api/visitors/counted-pages.ts";
import { readStored } from "./database.ts";

/** A client's row as memory has it. */
export interface PathRow extends ClientPart {
  /** When the last report about it came: expiry and eviction go by it. */
  readonly lastAtMs: number;
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
  client: { connections: [] },
  offers: NO_OFFER,
  countedPages: [],
  lastAtMs: Number.POSITIVE_INFINITY,
  network: "",
};

/** The key of a client's row: what is kept was of other things too. */
export function clientKey(client: string): string {
  return `client ${client}`;
}

const readClientPart = object<ClientPart>({
  client: readClientState,
  offers: readOfferState,
  countedPages: readCountedPages,
  assigned: optional(readAssignedClient),
});

/** A row's state as the table has it. */
export function stateText({ client, offers, countedPages, assigned }: PathRow): string {
  return JSON.stringify({ client, offers, countedPages, assigned });
}

/** Undefined if it cannot be read. */
export function readState(text: string): ClientPart | undefined {
  return readStored(text, readClientPart);
}
