import type { Experiment } from "../experiments/experiment.ts";
import type { Evaluation } from "./evaluation.ts";
import { percent, percentWithInterval } from "./format.ts";
import { gain, OHASHI_NETWORKS } from "./published.ts";

/** Where the measured and the published gain have different signs, beyond the interval. */
export function differences(experiment: Experiment, { gains }: Evaluation): string {
  const lines = experiment.cells.flatMap((cell) => {
    const published = OHASHI_NETWORKS.find(({ network }) => network === cell.network.name);
    const measured = gains.find((candidate) => candidate.cell === cell.id)?.fixedH3;
    if (published === undefined || measured === undefined || !Number.isFinite(measured.high)) return [];
    const expected = gain(published.h2Ms, published.h3Ms);
    const tie = measured.low <= 0 && measured.high >= 0;
    if (tie || measured.estimate > 0 === expected > 0) return [];
    return [
      `- network ${cell.network.name}, ${cell.congestion}: published ${percent(expected)}, measured ${percentWithInterval(measured)}`,
    ];
  });
  if (!experiment.cells.some(({ network }) => OHASHI_NETWORKS.some((published) => published.network === network.name)))
    return "";
  const found =
    lines.length === 0
      ? "In no network does the measured winner contradict the published one beyond its interval."
      : `The winner is another than published in:\n\n${lines.join("\n")}`;
  return `## Where this differs from what was published, and why

${found}

Likely causes, in this order: the senders' congestion controls (quic-go has left draft-24 and its CUBIC of then behind; bbr
does not read random loss as congestion, so that HTTP/2 with it hardly slows down where the published CUBIC collapses);
the meaning of delay and loss, which the source does not give for each direction; queues and buffers, of which it says
nothing; pacing and packet size of the QUIC version; and the client, which was one program with its server there.
`;
}
