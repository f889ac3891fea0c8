import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { counts, type CrossLoad, type CrossRow } from "./row.ts";
import { CLIENTS, PROTOCOLS, type Setting } from "./settings.ts";

/**
 * The loads of the next round, in random order: one of each client, protocol and setting that lacks loads that count.
 * Clients take turns within a round, so that whatever drifts on the machine meets both. A busy machine costs as many
 * loads again at most; what still lacks then stays short.
 */
export function nextRound(
  settings: readonly Setting[],
  rows: readonly CrossRow[],
  round: number,
  seed: number,
): CrossLoad[] {
  const loads = settings.flatMap((setting) =>
    PROTOCOLS.flatMap((protocol) =>
      CLIENTS.flatMap((client) => {
        const own = rows.filter(
          (row) => row.setting === setting.network.name && row.protocol === protocol && row.client === client,
        );
        const enough = own.filter(counts).length >= setting.runs || own.length >= 2 * setting.runs;
        const id = `${setting.network.name}-${protocol}-${client}-${round}`;
        return enough ? [] : [{ id, setting, protocol, client, round }];
      }),
    ),
  );
  return shuffle(loads, seededRandom(seed, "order", round));
}
