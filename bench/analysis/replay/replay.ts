import type { Policy } from "../../../policy-api/core/policy.ts";
import { calibrate, policyOf } from "../calibrate/calibrate.ts";
import { type CalibrationCell, cellsOf } from "../calibrate/cells.ts";
import type { Mix } from "../calibrate/mixes.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { seededRandom } from "../statistics/random.ts";
import { mean } from "../statistics/summary.ts";
import { type RecordedCell, recordedCells } from "./cells.ts";
import { contenders, OURS, publishedZeroLine } from "./contenders.ts";
import { offeredAfterVisit, offeredCold, visitMs } from "./play.ts";
import { type Played, scoreAll, type TimeOf } from "./score.ts";

export interface ReplayInput {
  readonly calibration: readonly LoadRow[];
  readonly evaluation: readonly LoadRow[];
  readonly grid: readonly LoadRow[];
  readonly mix: Mix;
  readonly seed: number;
}

/** What a session is that policies are scored on. */
const SESSIONS = ["after a visit", "first page, unknown", "first visit, three pages"] as const;
type SessionKind = (typeof SESSIONS)[number];

/** The scores of one congestion control and kind of session. */
export type ReplayTable = ReturnType<typeof replay>[number];

/** `other run`: calibrated on one run, scored on another; `held-out cells`: on the cells of other folds. */
const SCORED_ON = ["other run", "held-out cells"] as const;

const FOLDS = 4;
/** The one rate of the published method. */
const PUBLISHED_RATE_MBPS = 200;

/** Plays all contenders on recorded rows: calibrated and scored on different runs and on different cells. Pure. */
export function replay({ calibration, evaluation, grid, mix, seed }: ReplayInput) {
  const byCongestion = [...Map.groupBy(cellsOf(calibration), ({ congestion }) => congestion)].map(
    ([congestion, cells]) => ({ congestion, cells, ours: fitted(cells, mix) }),
  );
  const [others, held] = [recordedCells(evaluation), recordedCells(calibration)];
  return byCongestion.flatMap(({ congestion, cells, ours }) => {
    const line = publishedZeroLine(grid, congestion, PUBLISHED_RATE_MBPS);
    const wrong = byCongestion.find((one) => one.congestion !== congestion)?.ours;
    const folds: Fold[] = [
      { on: "other run", ours, cells: others.filter((cell) => cell.congestion === congestion) },
      // Each cell in one fold, which is scored by what the others were calibrated to.
      ...Array.from({ length: FOLDS }, (_, fold): Fold => {
        const ids = new Set(cells.filter((_cell, i) => i % FOLDS === fold).map(({ id }) => id));
        return {
          on: "held-out cells",
          ours: fitted(
            cells.filter(({ id }) => !ids.has(id)),
            mix,
          ),
          cells: held.filter(({ id }) => ids.has(id)),
        };
      }),
    ];
    return SESSIONS.flatMap((sessions) =>
      SCORED_ON.flatMap((on) => {
        const played = folds.flatMap((fold) => {
          if (fold.on !== on || fold.ours === undefined) return [];
          const policies = contenders(fold.ours, wrong, line);
          return fold.cells.flatMap((cell) => play(cell, policies, sessions) ?? []);
        });
        if (played.length === 0) return [];
        const random = seededRandom(seed, "replay", congestion, on, sessions);
        return [{ congestion, on, sessions, cells: played.length, scores: scoreAll(played, OURS, random) }];
      }),
    );
  });
}

/** Cells, and a policy that was calibrated without them. */
interface Fold {
  readonly on: (typeof SCORED_ON)[number];
  readonly ours: Policy | undefined;
  readonly cells: readonly RecordedCell[];
}

function fitted(cells: readonly CalibrationCell[], mix: Mix): Policy | undefined {
  const calibration = calibrate(cells, mix);
  return calibration === undefined ? undefined : policyOf(calibration, mix, undefined);
}

/** What each contender would have done in a cell. Undefined where the cell lacks such sessions. */
function play(
  cell: RecordedCell,
  policies: Readonly<Record<string, Policy>>,
  sessions: SessionKind,
): Played | undefined {
  const { visits } = cell;
  const recorded = sessions === "first visit, three pages" ? visits : cell;
  if (recorded === undefined) return undefined;
  const timeOf = (policy: Policy): TimeOf => {
    if (recorded === visits) return (stay, switched) => visitMs(policy, cell, visits, { stay, switched });
    const share = sessions === "after a visit" ? offeredAfterVisit(policy, cell) : offeredCold(policy, cell);
    return (stay, switched) => (1 - share) * mean(stay) + share * mean(switched);
  };
  return {
    cell: cell.network,
    stay: recorded.stay,
    switch: recorded.switch,
    expected: Object.fromEntries(Object.entries(policies).map(([name, policy]) => [name, timeOf(policy)])),
  };
}
