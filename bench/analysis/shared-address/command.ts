import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { readOptions, wholeNumber, words } from "../../model/options.ts";
import { seededRandom } from "../statistics/random.ts";
import { percent } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile } from "../tables/template.ts";
import { type Address, play, type Seen } from "./simulate.ts";

const OPTIONS = {
  runs: wholeNumber("addresses of each kind (10)", [1, 10_000], 10),
  hours: wholeNumber("how long each is visited (72)", [1, 10_000], 72),
  seed: wholeNumber("what visits are drawn from (1)", [0, 2 ** 31 - 1], 1),
  out: words("FOLDER", "where report and summary go (bench/results/shared-address)", "bench/results/shared-address"),
};

const BROWSERS = [1, 5, 20, 100] as const;

/** Simulates addresses with many browsers, and counts what pauses of offers cost them. */
export function sharedAddressCommand(args: readonly string[]): void {
  const { runs, hours, seed, out } = readOptions(args, OPTIONS);
  const kinds = [60, 3_600].flatMap((maS) =>
    [1, 0.5, 0.1, 0.02, 0].flatMap((able) =>
      [1, 10, 60, 200, 500].map((visitsPerHour) => ({ maS, able, visitsPerHour })),
    ),
  );
  const rows = kinds.map((kind) => ({
    ...kind,
    seen: BROWSERS.map((browsers) => sumOf(playAll({ ...kind, browsers }, { runs, hours, seed }))),
  }));
  const about = { command: ["npm run bench -- shared-address", ...args].join(" "), runs, hours, seed };
  const table = tableOf(rows, [
    ["`ma`, able, visits an hour", ({ maS, able, visitsPerHour }) => `${maS} s, ${percent(able)}, ${visitsPerHour}`],
    ...BROWSERS.map((browsers, i): [string, (row: (typeof rows)[number]) => string] => [
      browsers === 1 ? "1 browser" : `${browsers} browsers`,
      ({ seen }) => textOf(seen[i]),
    ]),
  ]);
  const folder = resolve(ROOT, out);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "summary.json"), `${JSON.stringify({ ...about, rows }, null, 1)}\n`);
  writeFileSync(join(folder, "report.md"), fillFile("bench/analysis/shared-address/report.md", { ...about, table }));
  console.log(`Report: ${relative(process.cwd(), join(folder, "report.md"))}.`);
}

function playAll(address: Address, { runs, hours, seed }: { runs: number; hours: number; seed: number }): Seen[] {
  return Array.from({ length: runs }, (_, run) =>
    play(address, hours, seededRandom(seed, run, ...Object.values(address))),
  );
}

/** Of some addresses: sums, and the median of the pages to a pause. */
function sumOf(all: readonly Seen[]): Seen {
  const sum = (of: keyof Seen): number => all.reduce((total, one) => total + one[of], 0);
  const toPause = all.map(({ pagesToPause }) => pagesToPause).toSorted((a, b) => a - b);
  return {
    firstPages: sum("firstPages"),
    pausedFirst: sum("pausedFirst"),
    ablePages: sum("ablePages"),
    overQuic: sum("overQuic"),
    vainOffers: sum("vainOffers"),
    pagesToPause: toPause[Math.floor(toPause.length / 2)] ?? 0,
  };
}

function textOf(seen: Seen | undefined): string {
  if (seen === undefined) return "-";
  const { firstPages, pausedFirst, ablePages, overQuic, pagesToPause } = seen;
  const later = ablePages === 0 ? `page ${pagesToPause}` : percent(overQuic / ablePages);
  return `${percent(pausedFirst / firstPages)}, ${later}`;
}
