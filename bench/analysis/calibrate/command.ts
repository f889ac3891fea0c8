import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { format } from "prettier";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { parsePolicy } from "../../../policy-api/decision/policy.ts";
import { counts, LOAD_ROW } from "../../model/load-row.ts";
import { type Option, readOptions, wholeNumber, words } from "../../model/options.ts";
import { readStarts, rowsIn } from "../../model/recorded-run.ts";
import { type QuicSender, senderOf } from "../../model/senders.ts";
import { placesOf, stacksOf } from "../senders/places.ts";
import { ACCESS_LINES, gainTableOf, policyOf } from "./calibrate.ts";
import { browserGainsIn } from "./browsers.ts";
import { leanTable } from "./lean.ts";
import { priceIn } from "./price.ts";

/** Makes a policy for each stack that the rows have. @throws UserError */
export async function calibrateCommand(args: readonly string[]): Promise<void> {
  const options = readOptions(args, CALIBRATE_OPTIONS);
  const policies = resolve(ROOT, options.policies);
  const from = resolve(ROOT, options.from);
  const rows = rowsIn(from, LOAD_ROW);
  const command = ["npm run bench -- calibrate", ...args].join(" ");
  // Of the file as it is: who has it can tell whether a policy is of it.
  const rowsSha256 = createHash("sha256")
    .update(readFileSync(join(from, "rows.csv")))
    .digest("hex");
  const priceAt = priceIn(resolve(ROOT, options.offers));
  const browsers = options.browsers === undefined ? undefined : browserGainsIn(options.browsers.split(","));
  const places = placesOf(rows);
  const stacks = stacksOf(places);
  if (stacks.length === 0) throw new UserError(`No cell of ${options.from} has enough loads of each kind.`);
  for (const stack of stacks) {
    const { tcp, quic } = stack;
    const tabled = gainTableOf(places, stack, priceAt);
    if ("missing" in tabled)
      throw new UserError(
        `${tabled.missing.length} places of ${tcp} and ${quic} have too few loads: let \`senders\` run to its end. Missing: ${tabled.missing.join("; ")}.`,
      );
    const loads = rows.filter(
      (row) => counts(row) && [tcp, quic].some((sender) => sender === senderOf(row.arm, row.congestion)),
    ).length;
    const provenance = {
      stack: stackOf(from, quic),
      congestionControl: tcp,
      quic,
      command,
      rowsSha256,
      loads,
      cells: places.length,
    };
    // Browsers were measured with this stack alone.
    const gains = tcp === "cubic" && quic === "quic-go" ? browsers : undefined;
    const lean = leanTable(tabled.table, ACCESS_LINES, priceAt, gains);
    const policy = policyOf(lean, (options.ceiling * 1e6) / 8, provenance);
    const parsed = parsePolicy(policy);
    if (!parsed.ok) throw new Error(`The policy of ${tcp} and ${quic} is not one: ${JSON.stringify(parsed.faults)}`);
    const file = join(policies, ...(quic === "quic-go" ? [] : [quic]), `${tcp}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await format(JSON.stringify(policy), { parser: "json", printWidth: 120 }));
    console.log(`${relative(ROOT, file)}: ${tcp} and ${quic}, ${loads} loads at ${places.length} places.`);
  }
}

function stackOf(folder: string, quic: QuicSender): string {
  const machine = readStarts(folder).at(-1)?.machine;
  if (machine === undefined) throw new UserError(`${folder}: no starts.json tells what was measured.`);
  const { go, kernel, quicGo, quiche = "of unknown version" } = machine;
  const sender = quic === "quic-go" ? `quic-go ${quicGo}` : `quiche ${quiche} (${quic.replace("quiche-", "")})`;
  return `Go ${go.replace("go", "")} net/http over Linux ${kernel} TCP, ${sender}`;
}

function folderOption(about: string, preset: string): Option<string> {
  return words("FOLDER", `${about} (${preset})`, preset);
}

export const CALIBRATE_OPTIONS = {
  from: folderOption("a run of `senders`", "bench/results/senders"),
  offers: folderOption("a run of `offers`: what an offer costs the page that brings it", "bench/results/offers"),
  browsers: words(
    "FOLDER,...",
    "runs of `browser-clients --draw 1` and `2`: what browsers gain with cubic and quic-go; without them k6's client says it",
    undefined,
  ),
  ceiling: wholeNumber("what HTTP/3 carries at most, Mbit/s (200)", [1, 100_000], 200),
  policies: folderOption("where the policies go, one file for each stack", ".adaptive-h3/policies"),
};
