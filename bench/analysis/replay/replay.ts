import type { Policy } from "../../../policy-api/core/policy.ts";
import { calibrate, policyOf } from "../calibrate/calibrate.ts";
import { type CalibrationCell, cellsOf } from "../calibrate/cells.ts";
import type { Mix } from "../calibrate/mixes.ts";
import type { Congestion } from "../../model/congestion.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { seededRandom } from "../statistics/random.ts";
import { mean } from "../statistics/summary.ts";
import { type RecordedCell, recordedCells } from "./cells.ts";
import { contenders, OURS, publishedZeroLine } from "./contenders.ts";
import { offeredAfterVisit, offeredCold, type PageMeans, visitMs } from "./play.ts";
import { type Played, type Score, scoreAll } from "./score.ts";

export interface ReplayInput {
  readonly calibration: readonly LoadRow[];
  readonly evaluation: readonly LoadRow[];
  readonly grid: readonly LoadRow[];
  readonly mix: Mix;
  readonly seed: number;
}

/** What a session is that policies are scored on. */
export const SESSIONS = ["after a visit", "first page, unknown", "first visit, three pages"] as const;
export type SessionKind = (typeof SESSIONS)[number];

export interface ReplayTable {
  readonly congestion: Congestion;
  /** `other run`: calibrated on one run, scored on another; `held-out cells`: on the cells of other folds. */
  readonly on: "other run" | "held-out cells";
  readonly sessions: SessionKind;
  readonly cells: number;
  readonly scores: readonly Score[];
}

const FOLDS = 4;
/** The one rate of the published method. */
const PUBLISHED_RATE_MBPS = 200;

/** Plays all contenders on recorded rows: calibrated and scored on different runs and on different cells. Pure. */
export function replay(input: ReplayInput): ReplayTable[] {
  const cells = cellsOf(input.calibration);
  const congestions = [...new Set(cells.map(({ congestion }) => congestion))];
  const ofCongestion = (congestion: Congestion): CalibrationCell[] =>
    cells.filter((cell) => cell.congestion === congestion);
  const whole = new Map(congestions.map((congestion) => [congestion, fitted(ofCongestion(congestion), input.mix)]));
  return congestions.flatMap((congestion) => {
    const other = congestions.find((one) => one !== congestion);
    const line = publishedZeroLine(input.grid, congestion, PUBLISHED_RATE_MBPS);
    const policiesWith = (ours: Policy): Readonly<Record<string, Policy>> =>
      contenders(ours, other === undefined ? undefined : whole.get(other), line);
    const ours = whole.get(congestion);
    const others = recordedCells(input.evaluation).filter((cell) => cell.congestion === congestion);
    const folds = foldsOf(ofCongestion(congestion), recordedCells(input.calibration), input.mix);
    const tables: ReplayTable[] = [];
    for (const sessions of SESSIONS) {
      const add = (on: ReplayTable["on"], played: readonly Played[]): void => {
        if (played.length === 0) return;
        const random = seededRandom(input.seed, "replay", congestion, on, sessions);
        tables.push({ congestion, on, sessions, cells: played.length, scores: scoreAll(played, OURS, random) });
      };
      if (ours !== undefined)
        add(
          "other run",
          others.flatMap((cell) => play(cell, policiesWith(ours), sessions) ?? []),
        );
      add(
        "held-out cells",
        folds.flatMap((fold) => fold.cells.flatMap((cell) => play(cell, policiesWith(fold.ours), sessions) ?? [])),
      );
    }
    return tables;
  });
}

interface Fold {
  readonly ours: Policy;
  readonly cells: readonly RecordedCell[];
}

/** Each cell in one fold, which is scored by what the others were calibrated to. */
function foldsOf(cells: readonly CalibrationCell[], recorded: readonly RecordedCell[], mix: Mix): Fold[] {
  return Array.from({ length: FOLDS }, (_, fold) => {
    const held = new Set(cells.filter((_cell, i) => i % FOLDS === fold).map(({ id }) => id));
    const ours = fitted(
      cells.filter(({ id }) => !held.has(id)),
      mix,
    );
    return ours === undefined ? undefined : { ours, cells: recorded.filter(({ id }) => held.has(id)) };
  }).filter((fold) => fold !== undefined);
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
  if (sessions === "first visit, three pages") {
    const { visits } = cell;
    if (visits === undefined) return undefined;
    const expected =
      (policy: Policy) =>
      (stay: readonly number[], switched: readonly number[]): number => {
        const pages: PageMeans = { onH2: stay, switched };
        return visitMs(policy, cell, visits, pages);
      };
    return {
      cell: cell.network,
      stay: visits.onH2,
      switch: visits.switched,
      expected: Object.fromEntries(Object.entries(policies).map(([name, policy]) => [name, expected(policy)])),
    };
  }
  const offered = sessions === "after a visit" ? offeredAfterVisit : offeredCold;
  return {
    cell: cell.network,
    stay: cell.stayMs.map((ms) => [ms]),
    switch: cell.switchMs.map((ms) => [ms]),
    expected: Object.fromEntries(
      Object.entries(policies).map(([name, policy]) => {
        const share = offered(policy, cell);
        return [name, (stay, switched) => (1 - share) * mean(stay) + share * mean(switched)];
      }),
    ),
  };
}
