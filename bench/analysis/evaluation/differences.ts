import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import type { Interval } from "../statistics/bootstrap.ts";
import type { Evaluation } from "./evaluation.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { percent, percentWithInterval, size } from "../tables/format.ts";
import { gain, OHASHI_NETWORKS } from "./published.ts";

/** Every network whose measured gain has not the published one in its interval; undefined where none is a published one. */
export function differences(
  experiment: Pick<LoadExperiment, "cells">,
  { gains }: Pick<Evaluation, "gains">,
): string | undefined {
  const rows = experiment.cells.flatMap((cell) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === cell.network.name);
    const measured = gains.find((candidate) => candidate.cell === cell.id)?.fixedH3;
    return published === undefined || measured == null ? [] : differenceOf(cell, published, measured);
  });
  if (!experiment.cells.some(({ network }) => OHASHI_NETWORKS.some((published) => published.network === network.name)))
    return undefined;
  return rows.length === 0
    ? "In no network does the measured gain differ from the published one beyond its interval."
    : figuresTable(["network", "TCP", "image", "gain of HTTP/3, published", "measured", ""], rows);
}

function differenceOf(
  { network, congestion, imageBytes }: Cell,
  published: (typeof OHASHI_NETWORKS)[number],
  measured: Interval,
): string[][] {
  const expected = gain(published.h2Ms, published.h3Ms);
  if (measured.low <= expected && expected <= measured.high) return [];
  const tie = measured.low <= 0 && measured.high >= 0;
  const verdict = tie
    ? "a tie here"
    : measured.estimate > 0 !== expected > 0
      ? "**another winner**"
      : Math.abs(measured.estimate) > Math.abs(expected)
        ? "the same winner, by more"
        : "the same winner, by less";
  return [[network.name, congestion, size(imageBytes), percent(expected), percentWithInterval(measured), verdict]];
}
