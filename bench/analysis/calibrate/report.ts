import { figuresTable } from "../tables/figures-table.ts";
import { number } from "../tables/format.ts";
import { fillFile } from "../tables/template.ts";
import type { Calibration } from "./calibrate.ts";
import type { Mix } from "./mixes.ts";

/** A calibrated congestion control. */
export interface Calibrated {
  readonly congestion: string;
  readonly calibration: Calibration;
  readonly loads: number;
}

const COORDINATES = { tcp: "TCP", quic: "QUIC", configured: "configured" } as const;

/** What was fitted, and how well. */
export function calibrationReport(
  done: readonly Calibrated[],
  about: { readonly command: string; readonly stack: string; readonly rowsSha256: string; readonly mix: Mix },
): string {
  const rows = done.flatMap(({ congestion, loads, calibration: { validation } }) =>
    (["tcp", "quic", "configured"] as const).map((name) => {
      const { cells, rmsError, rmsNoise, multiplier, inflation } = validation[name];
      return [
        `${congestion}, ${COORDINATES[name]}`,
        String(cells),
        String(loads),
        number(rmsError),
        number(rmsNoise),
        `${multiplier} x`,
        number(inflation),
      ];
    }),
  );
  const heads = ["cells", "loads", "error (rms)", "sampling (rms)", "bandwidth", "se times"];
  const validation = figuresTable(["congestion control, coordinates", ...heads], rows);
  return fillFile("bench/analysis/calibrate/report.md", { ...about, mix: about.mix.about, validation });
}
