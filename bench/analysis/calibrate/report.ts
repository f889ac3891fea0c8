import { logTimesAt, type TimesLattice } from "../../../policy-api/core/times.ts";
import { renderSvg } from "../charts/chart.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { number, size } from "../tables/format.ts";
import { zeroLines } from "../charts/zero-lines.ts";
import { zeroLine } from "../statistics/zero-line.ts";
import type { Calibration } from "./calibrate.ts";
import type { CalibrationCell } from "./cells.ts";
import type { Mix } from "./mixes.ts";

/** A calibrated congestion control. */
export interface Calibrated {
  readonly congestion: string;
  readonly calibration: Calibration;
  readonly cells: readonly CalibrationCell[];
  readonly loads: number;
  /** The policy's file. */
  readonly file: string;
}

interface About {
  readonly command: string;
  readonly stack: string;
  readonly rowsSha256: string;
  readonly mix: Mix;
}

const TRANSPORT_NAMES = { tcp: "TCP", quic: "QUIC", configured: "configured" } as const;

/** What was fitted, how well, and where the two protocols take equally long. */
export async function calibrationReport(
  done: readonly Calibrated[],
  about: About,
): Promise<{ markdown: string; pictures: { file: string; svg: string }[] }> {
  const pictures: { file: string; svg: string }[] = [];
  for (const { congestion, calibration } of done)
    for (const transport of ["tcp", "quic"] as const) {
      const lattice = calibration.method[transport];
      for (const bytes of lattice.contentBytes)
        pictures.push({
          file: `zero-lines-${congestion}-${transport}-${bytes / 1000}k.svg`,
          svg: await renderSvg(linesOf(lattice, congestion, transport, bytes)),
        });
    }
  const markdown = `# calibrate: times of this stack as a policy

\`${about.command}\`

- Stack: ${about.stack}.
- Rows: SHA-256 ${about.rowsSha256}.
- Cold start: the mean over ${about.mix.about}.
- Times are fitted over what the sender measured of a path (smallest RTT, loss, delivery rate) and over bytes, by local linear
  regression in their logarithms; one fit for what TCP measures, one for QUIC, one for the configured path (the cold start's).
  The bandwidth is the one whose left-out cells are predicted best. Standard errors hold the fit's scatter and the loads'
  sampling, and are multiplied by what they fell short of when cells were left out.

## How well cells are predicted that the fit did not see

The error of ln(stay / switch), beside what the loads' own sampling leaves uncertain: no fit can be better than that.

${figuresTable(
  ["congestion control, coordinates", "cells", "loads", "error (rms)", "sampling (rms)", "bandwidth", "se times"],
  done.flatMap(({ congestion, loads, calibration }) =>
    (["tcp", "quic", "configured"] as const).map((name) => {
      const { cells, rmsError, rmsNoise, multiplier, inflation } = calibration.validation[name];
      return [
        `${congestion}, ${TRANSPORT_NAMES[name]}`,
        String(cells),
        String(loads),
        number(rmsError),
        number(rmsNoise),
        `${multiplier} x`,
        number(inflation),
      ];
    }),
  ),
)}

## Where switching is neither faster nor slower

Above a line, or right of it, a session that is offered HTTP/3 is expected to end sooner than one that stays on HTTP/2 (with
cubic), or below it (with bbr, whose HTTP/2 gains by loss). Lines are those of the fit, where cells support it; a decision
asks for the margin over the whole uncertainty besides.

${done
  .flatMap(({ congestion, calibration }) =>
    (["tcp", "quic"] as const).flatMap((transport) =>
      calibration.method[transport].contentBytes.map(
        (bytes) =>
          `![Zero lines, ${congestion}, measured by ${TRANSPORT_NAMES[transport]}, ${size(bytes)}](zero-lines-${congestion}-${transport}-${bytes / 1000}k.svg)`,
      ),
    ),
  )
  .join("\n\n")}
`;
  return { markdown, pictures };
}

const STEPS = 40;

function linesOf(lattice: TimesLattice, congestion: string, transport: "tcp" | "quic", contentBytes: number) {
  const rttMax = lattice.rttMs.at(-1) ?? 1;
  const lossMax = lattice.lossRatio.at(-1) ?? 0.01;
  const steps = Array.from({ length: STEPS + 1 }, (_, i) => i / STEPS);
  const lines = lattice.deliveryRateBps.map((deliveryRateBps) => ({
    rateMbps: Number(((deliveryRateBps * 8) / 1e6).toPrecision(2)),
    pieces: zeroLine(
      steps.map((y) =>
        steps.map((x) => {
          const path = { rttMs: x * rttMax, lossRatio: y * lossMax, deliveryRateBps };
          const { switchSaving, clamped } = logTimesAt(lattice, path, contentBytes);
          // No line where no measurements are near.
          return { x: path.rttMs, y: 100 * path.lossRatio, gain: clamped ? undefined : switchSaving };
        }),
      ),
    ),
  }));
  return zeroLines(lines, {
    title: `Where the switch pays: ${congestion}, ${size(contentBytes)}`,
    subtitle: `Over what ${TRANSPORT_NAMES[transport]} measures; the rate is the delivery rate that it measured.`,
    xTitle: "measured RTT (ms)",
    yTitle: "measured loss (%)",
    x: [0, rttMax],
    y: [0, 100 * lossMax],
  });
}
