import type { Cell } from "../../model/cell.ts";
import type { Experiment } from "../../model/experiment.ts";
import type { Interval } from "../statistics/bootstrap.ts";
import type { Evaluation } from "./evaluation.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { percent, percentWithInterval, size } from "../tables/format.ts";
import { gain, OHASHI_NETWORKS } from "./published.ts";

const PUBLISHED_BYTES = 10_000_000;

/** Every network whose measured gain has not the published one in its interval, and the causes that come into question. */
export function differences(experiment: Experiment, { gains }: Evaluation): string {
  const rows = experiment.cells.flatMap((cell) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === cell.network.name);
    const measured = gains.find((candidate) => candidate.cell === cell.id)?.fixedH3;
    return published === undefined || measured == null ? [] : differenceOf(cell, published, measured);
  });
  if (!experiment.cells.some(({ network }) => OHASHI_NETWORKS.some((published) => published.network === network.name)))
    return "";
  const heads = ["network", "TCP", "image", "gain of HTTP/3, published", "measured", ""];
  const found =
    rows.length === 0
      ? "In no network does the measured gain differ from the published one beyond its interval."
      : figuresTable(heads, rows);
  return `## Where this differs from what was published, and why

${found}

${causes(experiment).join("\n")}
`;
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

/** Likeliest first; those that this run's own data speak for say so. */
function causes({ cells }: Experiment): string[] {
  const names = new Set(cells.map(({ congestion }) => congestion));
  const smaller = cells.some(({ imageBytes }) => imageBytes !== PUBLISHED_BYTES);
  return [
    "Causes that come into question, likeliest first:",
    "",
    ...(names.has("bbr")
      ? [
          "- The server's TCP. The published one was CUBIC. bbr does not read random loss as congestion, so that with it HTTP/2 hardly slows down where CUBIC's window collapses: with loss and delay the two halves of this report, which differ in nothing else, name different winners.",
        ]
      : []),
    "- QUIC's sender. quic-go's of today is not that of draft-24: pacing, loss detection (RFC 9002) and packet sizes are others. Its congestion control does not follow the server's TCP.",
    ...(smaller
      ? [
          "- The object's size. Where images are smaller than the published 10 MB, handshake and slow start weigh more, and a window has less time to collapse.",
        ]
      : []),
    "- The path. The source does not give delay and loss for each direction, and says nothing of queues; here delay meets both directions, loss the data, and the queue holds 1.5 MB.",
    "- The machine. Here server, path and client share two cores, and QUIC takes two to three times TCP's CPU time (the tables above give the edge's): at 200 Mbit/s without delay that bounds the load, and such loads are left out.",
  ];
}
