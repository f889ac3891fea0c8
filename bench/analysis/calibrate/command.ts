import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { format } from "prettier";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { parsePolicy } from "../../../policy-api/decision/policy.ts";
import { CONGESTIONS } from "../../model/congestion.ts";
import { counts, LOAD_ROW } from "../../model/load-row.ts";
import { type Option, readOptions, words } from "../../model/options.ts";
import { readStarts, rowsIn } from "../../model/recorded-run.ts";
import { QUIC_ARMS, type QuicSender, senderOf } from "../../model/senders.ts";
import { placesOf, stacksOf } from "../senders/places.ts";
import { gainTableOf, policyOf } from "./calibrate.ts";
import { priceIn } from "./price.ts";

/** Makes a policy for each stack that the rows have. @throws UserError */
export async function calibrateCommand(args: readonly string[]): Promise<void> {
  const options = readCalibrateOptions(args);
  const policies = resolve(ROOT, options.policies);
  const folders = options.from.map((folder) => resolve(ROOT, folder));
  const rows = folders.flatMap((folder) => rowsIn(folder, LOAD_ROW));
  const command = ["npm run bench -- calibrate", ...args].join(" ");
  const rowsSha256 = hashOf(folders);
  const priceAt = priceIn(resolve(ROOT, options.offers));
  const places = placesOf(rows);
  const stacks = stacksOf(places, CONGESTIONS, Object.keys(QUIC_ARMS) as QuicSender[]);
  if (stacks.length === 0) throw new UserError(`No cell of ${options.from.join(", ")} has enough loads of each kind.`);
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
      stack: stackOf(folders, quic),
      congestionControl: tcp,
      command,
      rowsSha256,
      loads,
      cells: places.length,
    };
    const policy = policyOf(tabled.table, provenance);
    const parsed = parsePolicy(policy);
    if (!parsed.ok) throw new Error(`The policy of ${tcp} and ${quic} is not one: ${JSON.stringify(parsed.faults)}`);
    const file = join(policies, ...(quic === "quic-go" ? [] : [quic]), `${tcp}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await format(JSON.stringify(policy), { parser: "json", printWidth: 120 }));
    console.log(`${relative(ROOT, file)}: ${tcp} and ${quic}, ${loads} loads at ${places.length} places.`);
  }
}

/** Of the files as they are: who has them can tell whether a policy is of them. */
function hashOf(folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const folder of folders) hash.update(readFileSync(join(folder, "rows.csv")));
  return hash.digest("hex");
}

function stackOf(folders: readonly string[], quic: QuicSender): string {
  const machine = folders.flatMap((folder) => readStarts(folder)).at(-1)?.machine;
  if (machine === undefined) throw new UserError(`${folders.join(", ")}: no starts.json tells what was measured.`);
  const { go, kernel, quicGo, quiche = "of unknown version" } = machine;
  const sender = quic === "quic-go" ? `quic-go ${quicGo}` : `quiche ${quiche} (${quic.replace("quiche-", "")})`;
  return `Go ${go.replace("go", "")} net/http over Linux ${kernel} TCP, ${sender}`;
}

function folderOption(about: string, preset: string): Option<string> {
  return words("FOLDER", `${about} (${preset})`, preset);
}

const OPTIONS = {
  from: folderOption("runs of `senders`, several with commas", "bench/results/senders"),
  offers: folderOption("a run of `offers`: what an offer costs the page that brings it", "bench/results/offers"),
  policies: folderOption("where the policies go, one file for each stack", ".adaptive-h3/policies"),
};

/** @throws UserError naming the option and what is allowed */
export function readCalibrateOptions(args: readonly string[]) {
  const { from, ...options } = readOptions(args, OPTIONS);
  return { from: from.split(",").filter((one) => one !== ""), ...options };
}
