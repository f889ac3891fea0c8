import type { Loop, Size } from "../model/request-plan.ts";

/**
 * Connections of a loop, each a client. The closed loop's are few and busy; the open loop's take turns, so that each
 * opens some pages as visitors do. Of large responses fewer, as each is asked for twice before the seconds that count.
 */
export const CLIENTS: Readonly<Record<Loop, Readonly<Record<Size, number>>>> = {
  closed: { small: 16, large: 16 },
  open: { small: 200, large: 50 },
};

/** Before the seconds that count: every connection is made and used twice, which takes about half of it. */
export const WARM_SECONDS = 1.5;

/**
 * Loopback addresses (RFC 1122, 3.2.1.3), each in a /24 of its own, as visitors' mostly are; for k6's --local-ips.
 *
 * @param run so that an arm meets nobody whom it knows: the next run has other addresses
 */
export function clientAddresses(run: number, clients: number): string[] {
  return Array.from({ length: clients }, (_, client) => `127.${1 + (run % 254)}.${client}.1`);
}
