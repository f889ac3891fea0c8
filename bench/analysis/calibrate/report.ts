import { logTimesAt, type TimesLattice } from "../../../policy-api/core/times.ts";
import { renderSvg } from "../charts/chart.ts";
import { figuresTable } from "../tables/figures-table.ts";
import { number, size } from "../tables/format.ts";
import { fillFile } from "../tables/template.ts";
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
  const pictures: { file: string; about: string; svg: string }[] = [];
  for (const { congestion, calibration } of done)
    for (const transport of ["tcp", "quic"] as const) {
      const lattice = calibration.method[transport];
      for (const bytes of lattice.contentBytes)
        pictures.push({
          about: `Zero lines, ${congestion}, measured by ${TRANSPORT_NAMES[transport]}, ${size(bytes)}`,
          file: `zero-lines-${congestion}-${transport}-${bytes / 1000}k.svg`,
          svg: await renderSvg(linesOf(lattice, congestion, transport, bytes)),
        });
    }
  const markdown = fillFile("bench/analysis/calibrate/report.md", {
    command: about.command,
    stack: about.stack,
    rowsSha256: about.rowsSha256,
    mix: about.mix.about,
    validation: figuresTable(
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
    ),
    pictures: pictures.map(({ about: text, file }) => ({ about: text, file })),
  });
  return { markdown: `${markdown.trimEnd()}\n`, pictures };
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
