import { type Option, readOptions, words } from "../../model/options.ts";

function folder(about: string, preset: string): Option<string> {
  return words("FOLDER", `${about} (${preset})`, preset);
}

const OPTIONS = {
  from: folder("runs of `senders`, several with commas", "bench/results/senders"),
  offers: folder("a run of `offers`: what an offer costs the page that brings it", "bench/results/offers"),
  policies: folder("where the policies go, one file for each stack", ".adaptive-h3/policies"),
  out: folder("where the report goes", ".adaptive-h3/bench/calibrate"),
};

/** @throws UserError naming the option and what is allowed */
export function readCalibrateOptions(args: readonly string[]) {
  const { from, ...options } = readOptions(args, OPTIONS);
  return { from: from.split(",").filter((one) => one !== ""), ...options };
}
