import type { ClientRecord } from "../api/contract/clients.ts";
import { LOSS_NODES } from "../decision/loss-nodes.ts";
import { NETWORK_GIVES_MAX, UPPER_LEVELS } from "../decision/mix.ts";
import { count, percent } from "./quantities.ts";
import { sharedOut } from "./shared-out.ts";

const LEVELS = { network: "network", asn: "autonomous system", site: "site" } as const;

/** How losses are shared out: `no loss: 60 %, loss 0.1 %: 7.5 %`. A share under half a percent is left out. */
export function lossesText(weights: readonly number[], losses: readonly number[] = LOSS_NODES): string {
  const shares = sharedOut(weights);
  return losses
    .flatMap((loss, i) => {
      const share = shares[i] ?? 0;
      return share < 0.005 ? [] : [`${loss === 0 ? "no loss" : `loss ${percent(loss)}`}: ${percent(share)}`];
    })
    .join(", ");
}

/** What is known of the levels above a client, by their names: how many clients there are, and what they lose. */
export function levelsText(known: Pick<ClientRecord, keyof typeof LEVELS>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    UPPER_LEVELS.flatMap((level) => {
      const clients = known[level] ?? [];
      // Clients fade, and those of few packets count little.
      const worth = clients.reduce((sum, n) => sum + n, 0);
      if (worth < 0.005) return [];
      // Else a site would seem to have fewer clients than one of its networks.
      const capped = level === "network" ? "" : `, where a network counts for ${NETWORK_GIVES_MAX} at most`;
      return [[LEVELS[level], `${roughly(worth)} clients' worth${capped}; ${lossesText(clients)}`]];
    }),
  );
}

/** With two digits: `2.2`, `120` */
export function roughly(value: number): string {
  return count(Number(value.toPrecision(2)));
}
