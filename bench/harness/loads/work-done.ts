import type { Cell } from "../../model/cell.ts";
import { type LoadExperiment, loadsOf, loadsPerRound } from "../../model/load-experiment.ts";
import { expectedSeconds, isHeavy } from "./expected.ts";

/** How much of an experiment's expected time is behind it. */
export class WorkDone {
  readonly #experiment: LoadExperiment;
  readonly #secondsPerRound = new Map<string, number>();
  readonly #rounds = new Map<string, number>();
  readonly #finished = new Set<string>();

  /** @param lanes how many light cells are measured at a time */
  constructor(experiment: LoadExperiment, lanes: number) {
    this.#experiment = experiment;
    for (const cell of experiment.cells)
      this.#secondsPerRound.set(
        cell.id,
        loadsOf(experiment, cell).reduce(
          (sum, load) => sum + loadsPerRound(cell, load) * expectedSeconds(experiment, cell, load),
          0,
        ) / (isHeavy(cell) ? 1 : lanes),
      );
  }

  /** @param rowsSoFar of the cell, those that do not count included */
  update(cell: Cell, rowsSoFar: number, finished: boolean): void {
    const perRound = loadsOf(this.#experiment, cell).reduce((sum, load) => sum + loadsPerRound(cell, load), 0);
    this.#rounds.set(cell.id, rowsSoFar / perRound);
    if (finished) this.#finished.add(cell.id);
  }

  /** From 0 to 1. */
  share(): number {
    const { first, cap } = this.#experiment.allocation;
    // Until some cells have shown how many rounds an answer takes: half-way between the fewest and the most.
    const shown = [...this.#finished].map((id) => this.#rounds.get(id) ?? first);
    const planned = (shown.reduce((sum, rounds) => sum + rounds, 0) + ((first + cap) / 2) * 3) / (shown.length + 3);
    let done = 0;
    let all = 0;
    for (const { id } of this.#experiment.cells) {
      const usual = this.#experiment.rounds?.[id] ?? planned;
      const seconds = this.#secondsPerRound.get(id) ?? 0;
      const rounds = this.#rounds.get(id) ?? 0;
      const total = this.#finished.has(id) ? rounds : Math.max(usual, rounds + 1);
      done += seconds * rounds;
      all += seconds * total;
    }
    return all === 0 ? 1 : done / all;
  }
}
