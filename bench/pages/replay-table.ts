import { figuresTable } from "../analysis/tables/figures-table.ts";
import { percent } from "../analysis/tables/format.ts";
import type { ReplayTable } from "../analysis/replay/replay.ts";

/** Mean and worst regret of every policy in the networks of the other run, after a visit: for the README. */
export function replayReadmeTable(tables: readonly ReplayTable[]): string {
  const chosen = tables.filter(({ on, sessions }) => on === "other run" && sessions === "after a visit");
  const contenders = chosen[0]?.scores.map(({ contender }) => contender) ?? [];
  return figuresTable(
    ["policy", ...chosen.flatMap(({ congestion }) => [`${congestion}: mean`, "worst"])],
    contenders.map((contender) => [
      contender,
      ...chosen.flatMap(({ scores }) => {
        const score = scores.find((one) => one.contender === contender);
        return [percent(score?.mean), percent(score?.worst)];
      }),
    ]),
  );
}
