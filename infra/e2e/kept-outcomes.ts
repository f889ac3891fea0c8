import assert from "node:assert/strict";
import { EMPTY_DAY } from "../../policy-api/visitors/client-day.ts";
import { EVERYWHERE } from "../../policy-api/visitors/row-keys.ts";
import { outcomeId } from "../../policy-api/visitors/sums-change.ts";
import { readSums, replaceAll, sumsText } from "../../policy-api/visitors/sums.ts";
import { outcomesOnDisk, valueOf } from "./objects.ts";

export interface KeptOutcomes {
  /** Rows of clients that say what is in sums. */
  readonly clients: number;
  /** Their pages that reported. */
  readonly reported: number;
  /** The last page of one of them that reported, milliseconds since the epoch. */
  readonly lastAtMs: number;
  /** Clients in sums of which no row says so: those that were decided about by another version since, once for each. */
  readonly left: number;
}

/** Reads the sums of outcomes from disk, while workerd runs. Throws if a client's row says of them what is not in them. */
export function keptOutcomes(stateDir: string): KeptOutcomes {
  const { sums, clients, gone } = outcomesOnDisk(stateDir);
  let reported = 0;
  let lastAtMs = 0;
  for (const { version, arm, rows, atMs } of clients.filter((client) => !gone.has(client.version)))
    for (const [key, day] of Object.entries(rows)) {
      const id = outcomeId({ version, arm, key });
      const held = sums.get(id);
      assert(held !== undefined, `a client's row says that it is in sums that are not there: ${id}`);
      sums.set(id, replaceAll(held, [{ before: day, after: EMPTY_DAY }]));
      if (key !== EVERYWHERE || day.load.pages === 0) continue;
      reported += day.load.pages;
      lastAtMs = Math.max(lastAtMs, atMs);
    }
  let left = 0;
  for (const [id, rest] of sums) {
    // Where a row's part is missing, a count or a sum of squares is below 0 by now.
    valueOf(`${id} without what clients' rows say`, readSums, JSON.parse(sumsText(rest)));
    if (id.endsWith(` ${EVERYWHERE}`)) left += Number(rest.assigned.clients);
  }
  return { clients: clients.filter(({ rows }) => EVERYWHERE in rows).length, reported, lastAtMs, left };
}
