import { type AssignedClient, isOf, type SketchTimes } from "./assigned-client.ts";
import { type ClientDay, EMPTY_DAY } from "./client-day.ts";
import type { OutcomeKey, OutcomeSums } from "./gathered.ts";
import { addTime } from "./quantiles.ts";
import { replaceAll } from "./sums.ts";

/** What a client has become since it was last written. */
export interface ClientChange {
  /** As it was last written. It is in the sums if it is of the same period, version and arm. */
  readonly before: AssignedClient | undefined;
  readonly after: AssignedClient;
  readonly times: readonly SketchTimes[];
}

/** What clients change under one key. */
export interface SumsChange extends OutcomeKey {
  readonly days: readonly { readonly before: ClientDay; readonly after: ClientDay }[];
  readonly loadMs: readonly number[];
  readonly lcpMs: readonly number[];
}

/** Adds what a client has become to what waits to be written. What it was in an earlier period, version or arm stays another change. Pure. */
export function withChange(waiting: readonly ClientChange[], change: ClientChange): readonly ClientChange[] {
  const last = waiting.at(-1);
  if (last === undefined || !isContinued(last.after, change.after)) return [...waiting, change];
  return [...waiting.slice(0, -1), { ...last, after: change.after, times: [...last.times, ...change.times] }];
}

/** What several clients change, once for each key that changes. Pure. */
export function changesOf(clients: readonly ClientChange[]): readonly SumsChange[] {
  const changes = new Map<string, OutcomeKey & { [F in "days" | "loadMs" | "lcpMs"]: SumsChange[F][number][] }>();
  for (const { before, after, times } of clients) {
    const { version, arm } = after;
    const counted = isContinued(before, after) ? before.rows : {};
    for (const [key, day] of Object.entries(after.rows)) {
      const its = times.filter(({ keys }) => keys.includes(key));
      if (day === counted[key] && its.length === 0) continue;
      const id = outcomeId({ version, arm, key });
      const change = changes.get(id) ?? { version, arm, key, days: [], loadMs: [], lcpMs: [] };
      changes.set(id, change);
      change.days.push({ before: counted[key] ?? EMPTY_DAY, after: day });
      for (const { loadMs, lcpMs } of its) {
        change.loadMs.push(loadMs);
        if (lcpMs !== undefined) change.lcpMs.push(lcpMs);
      }
    }
  }
  return [...changes.values()];
}

/** What is added up under a key after a change. Pure. */
export function addChange({ sums, load, lcp }: OutcomeSums, { days, loadMs, lcpMs }: SumsChange): OutcomeSums {
  return {
    sums: replaceAll(sums, days),
    load: loadMs.reduce(addTime, load),
    lcp: lcpMs.reduce(addTime, lcp),
  };
}

/** Whether what was written before is of the same period, version and arm. */
export function isContinued(before: AssignedClient | undefined, after: AssignedClient): before is AssignedClient {
  return before !== undefined && isOf(before, { ...after, policyVersion: after.version });
}

export function outcomeId({ version, arm, key }: OutcomeKey): string {
  return `${version} ${arm} ${key}`;
}

/** A client without what it has under some keys: the store has no sums for them. Pure. */
export function withoutKeys(client: AssignedClient, isGone: (key: OutcomeKey) => boolean): AssignedClient {
  const { version, arm } = client;
  const rows = Object.entries(client.rows).filter(([key]) => !isGone({ version, arm, key }));
  return rows.length === Object.keys(client.rows).length ? client : { ...client, rows: Object.fromEntries(rows) };
}
