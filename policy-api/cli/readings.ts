import type { ClientRecord } from "../contract/clients.ts";
import { TRANSPORTS } from "../core/sample.ts";

const LEVELS = { client: "client", network: "network", asn: "autonomous system" } as const;

/** What is known at each level, as each transport measured it. */
export function readings(known: Pick<ClientRecord, keyof typeof LEVELS>) {
  return (["client", "network", "asn"] as const).flatMap((level) =>
    TRANSPORTS.flatMap((transport) => {
      const read = known[level]?.[transport];
      return read === undefined ? [] : [{ level: LEVELS[level], transport: transport.toUpperCase(), ...read }];
    }),
  );
}
