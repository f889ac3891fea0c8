import type { ClientRecord } from "../contract/clients.ts";
import { LOSS_NODES } from "../core/loss-nodes.ts";
import { UPPER_LEVELS } from "../core/mix.ts";
import { count, percent } from "./quantities.ts";

const LEVELS = { network: "network", asn: "autonomous system", site: "site" } as const;

/** How losses are shared out: `no loss: 60 %, loss 0.1 %: 12 %`. A share under half a percent is left out. */
export function lossesText(weights: readonly number[], losses: readonly number[] = LOSS_NODES): string {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return losses
    .flatMap((loss, i) => {
      const share = (weights[i] ?? 0) / total;
      return share < 0.005 ? [] : [`${loss === 0 ? "no loss" : `loss ${percent(loss)}`}: ${Math.round(share * 100)} %`];
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
      return worth < 0.005 ? [] : [[LEVELS[level], `${roughly(worth)} clients' worth; ${lossesText(clients)}`]];
    }),
  );
}

/** With two digits: `2.2`, `120` */
export function roughly(value: number): string {
  return count(Number(value.toPrecision(2)));
}
