import { type Option, readOptions, words } from "../../model/options.ts";
import { type Mix, MIX_NAMES, MIXES } from "./mixes.ts";

export function folder(about: string, preset: string): Option<string> {
  return words("FOLDER", `${about} (${preset})`, preset);
}

export function mixOf(preset: (typeof MIX_NAMES)[number]): Option<Mix> {
  const names = MIX_NAMES.join(", ");
  return {
    value: "NAME",
    about: `networks that an unknown client is taken from: ${names} (${preset})`,
    preset: MIXES[preset],
    read: (text) => MIX_NAMES.filter((name) => name === text).map((name) => MIXES[name])[0],
    rule: `be one of ${names}`,
  };
}

const OPTIONS = {
  from: folder("runs of `calibration`, several with commas", "bench/results/calibration"),
  mix: mixOf("mostly-clean"),
  policies: folder("where the policies go, one file for each congestion control", ".adaptive-h3/policies"),
  out: folder("where the report goes", ".adaptive-h3/bench/calibrate"),
};

/** @throws UserError naming the option and what is allowed */
export function readCalibrateOptions(args: readonly string[]) {
  const { from, ...options } = readOptions(args, OPTIONS);
  return { from: from.split(",").filter((one) => one !== ""), ...options };
}
