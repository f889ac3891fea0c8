import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { OFFER_ROW } from "../../model/offer-row.ts";
import { readOptions, words } from "../../model/options.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { percent } from "../tables/format.ts";
import { tableOf } from "../tables/table-of.ts";
import { fillFile } from "../tables/template.ts";
import { type Compared, equivalenceOf, GAIN_BOUND, SHARE_BOUND } from "./equivalence.ts";

const OPTIONS = {
  browser: words("FOLDER", "a run of `offers` (bench/results/offers)", "bench/results/offers"),
  k6: words("FOLDER", "a run of `offers --client k6` (bench/results/offers-k6)", "bench/results/offers-k6"),
  out: words("FOLDER", "where the report goes (bench/results/equivalence)", "bench/results/equivalence"),
};

/** Compares two runs of `offers`, one by each client. @throws UserError without one of them */
export async function equivalenceCommand(args: readonly string[]): Promise<void> {
  const options = readOptions(args, OPTIONS);
  const [browser, k6] = [options.browser, options.k6].map((folder) => rowsIn(resolve(ROOT, folder), OFFER_ROW));
  const found = equivalenceOf(browser ?? [], k6 ?? []);
  const out = resolve(ROOT, options.out);
  mkdirSync(out, { recursive: true });
  const report = fillFile("bench/analysis/equivalence/report.md", {
    command: ["npm run bench -- equivalence", ...args].join(" "),
    browserRows: browser?.length ?? 0,
    k6Rows: k6?.length ?? 0,
    pages: found.pages.length,
    gain: differenceText(found.pooled.gain),
    share: differenceText(found.pooled.filesH3),
    gainBound: GAIN_BOUND,
    shareBound: SHARE_BOUND,
    differing: String(found.pages.filter(({ differs }) => differs).length),
    verdict: found.isEquivalent ? "Equivalent." : "Not shown to be equivalent.",
    table: tableOf(found.pages, [
      ["network", ({ network }) => network],
      ["TCP", ({ congestion }) => congestion],
      ["treatment", ({ treatment }) => treatment],
      ["page", ({ page }) => String(page)],
      ["gain, Chromium", ({ gain }) => gain.browser.toFixed(3)],
      ["k6", ({ gain }) => gain.k6.toFixed(3)],
      ["differs by", ({ gain }) => differenceText(gain)],
      ["", ({ differs }) => (differs ? "differs" : "")],
      ["files over HTTP/3, Chromium", ({ filesH3 }) => percent(filesH3.browser)],
      ["k6", ({ filesH3 }) => percent(filesH3.k6)],
    ]),
  });
  writeFileSync(join(out, "report.md"), report);
  writeFileSync(join(out, "summary.json"), `${JSON.stringify(found, null, 1)}\n`);
  console.log(
    `${found.isEquivalent ? "Equivalent" : "Not shown to be equivalent"}: ${relative(process.cwd(), join(out, "report.md"))}.`,
  );
}

function differenceText({ difference, low, high }: Compared): string {
  return `${difference.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}
