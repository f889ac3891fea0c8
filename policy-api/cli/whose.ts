import { misused } from "./failure.ts";
import type { Options } from "./options.ts";

export interface Whose {
  readonly what: "clients" | "networks";
  readonly address: string;
  /** As a sentence names it. */
  readonly whose: string;
}

/** Of whom --client or --network speaks. @throws Failure unless it is one of the two */
export function readWhose({ client, network }: Options): Whose {
  const address = client ?? network;
  if (address === undefined || (client !== undefined && network !== undefined))
    throw misused("Give --client ADDRESS or --network ADDRESS, one of the two.");
  return client === undefined
    ? { what: "networks", address, whose: `the network of ${address}` }
    : { what: "clients", address, whose: `the client ${address}` };
}
