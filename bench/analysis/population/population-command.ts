import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { parsePolicy, type Policy } from "../../../policy-api/decision/policy.ts";
import { readClients } from "../../model/clients.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { readOptions, wholeNumber, words } from "../../model/options.ts";
import { type Population, readPopulation } from "../../model/population.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { QUIC_SENDERS } from "../../model/senders.ts";
import { gainTableOf, tablePolicyOf } from "../calibrate/calibrate.ts";
import { priceIn } from "../calibrate/price.ts";
import { placesOf, type Stack } from "../senders/places.ts";
import { seededRandom } from "../statistics/random.ts";
import { byPolicy, flexHttp, type Forest, publishedPolicy, publishedZeroLine, toldOfMoves } from "./contenders.ts";
import { classesOf, gainsOf, type JudgeInput, scoresOf } from "./judge.ts";
import type { Contender } from "./play.ts";
import { type Judged, populationReport } from "./report.ts";
import { type MeasuredClient, measuredClients } from "./truth.ts";

const OPTIONS = {
  population: words("FILE", "who visits: a description, JSON", undefined),
  forest: words("FILE", "FlexHTTP's published forest, JSON; without it that rival is left out", undefined),
  from: words("FOLDER", "a run of `clients` (bench/results/clients)", "bench/results/clients"),
  offers: words("FOLDER", "a run of `offers` (bench/results/offers)", "bench/results/offers"),
  grid: words("FOLDER", "a run of `ohashi-grid` (bench/results/ohashi-grid)", "bench/results/ohashi-grid"),
  senders: words("FOLDER", "a run of `senders` (bench/results/senders)", "bench/results/senders"),
  policies: words("FOLDER", "the policies that are judged (policy-api/policies)", "policy-api/policies"),
  out: words("FOLDER", "where report and summary go (bench/results/population)", "bench/results/population"),
  seed: wholeNumber("what lives, halves and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
};

/** Every pair of senders that has a shipped policy. */
export const STACKS: readonly Stack[] = (["cubic", "bbr"] as const).flatMap((tcp) =>
  QUIC_SENDERS.map((quic) => ({ tcp, quic })),
);

type Question = Pick<JudgeInput, "withReturns" | "countsPackets" | "rehearses" | "weightOf"> & {
  readonly about: string;
};

/** Plays every policy on the measured clients of a population. @throws UserError */
export async function populationCommand(args: readonly string[]): Promise<void> {
  const options = readOptions(args, OPTIONS);
  if (options.population === undefined) throw new UserError("--population FILE says who visits.");
  const population = readPopulation(resolve(options.population));
  const from = resolve(ROOT, options.from);
  const rows = rowsIn(from, LOAD_ROW);
  const clients = measuredClients(readClients(), rows);
  const price = priceIn(resolve(ROOT, options.offers));
  const forest =
    options.forest === undefined ? undefined : (JSON.parse(readFileSync(options.forest, "utf8")) as Forest);
  const grid = rowsIn(resolve(ROOT, options.grid), LOAD_ROW);
  const places = placesOf(rowsIn(resolve(ROOT, options.senders), LOAD_ROW));
  const tableOf = (stack: Stack): Policy => {
    const tabled = gainTableOf(places, stack, price);
    if ("missing" in tabled) throw new UserError(`${options.senders} lacks ${tabled.missing.join("; ")}.`);
    return tablePolicyOf(tabled.table);
  };
  const others = (stack: Stack, ours: Policy): Readonly<Record<string, Contender>> => ({
    "ours, offers of 5 minutes at most": byPolicy({ ...ours, ma: { ...ours.ma, maxS: 300 } }),
    "ours, offers of an hour at most": byPolicy({ ...ours, ma: { ...ours.ma, maxS: 3_600 } }),
    "ours, told who comes back elsewhere": toldOfMoves(ours),
    "the measured table": byPolicy(tableOf(stack)),
    "the published line": byPolicy(publishedPolicy(publishedZeroLine(grid, stack.tcp))),
    ...(forest === undefined ? {} : { "FlexHTTP's forest": flexHttp(forest) }),
  });
  const judged = questions(population).map((one): Judged => {
    const { about, ...given } = one;
    const each = STACKS.map((stack) => {
      const ours = policyIn(options.policies, stack);
      return gainsOf({
        clients,
        description: population.description,
        stack,
        ours,
        others: others(stack, ours),
        price: (rttMs) => price(rttMs).log,
        seed: options.seed,
        ...given,
      });
    });
    const random = () => seededRandom(options.seed, "scores", about);
    return {
      about,
      summed: scoresOf(each, random()),
      stacks: STACKS.map(({ tcp, quic }, i) => ({
        name: `${tcp}, ${quic}`,
        scores: scoresOf(each.slice(i, i + 1), random()),
      })),
      classes: classesOf(each),
    };
  });
  const out = resolve(ROOT, options.out);
  mkdirSync(out, { recursive: true });
  const about = {
    command: ["npm run bench -- population", ...args.map((arg) => (arg.startsWith("/") ? "FILE" : arg))].join(" "),
    clients: clients.filter(({ loads }) => Object.keys(loads).length > 0).length,
    loads: clients.reduce((sum, { loads }) => sum + Object.values(loads).flat().length, 0),
    rowsSha256: createHash("sha256")
      .update(readFileSync(join(from, "rows.csv")))
      .digest("hex"),
  };
  writeFileSync(join(out, "summary.json"), `${JSON.stringify({ ...about, judged }, null, 1)}\n`);
  writeFileSync(join(out, "report.md"), populationReport(judged, about));
  console.log(`Report: ${relative(process.cwd(), join(out, "report.md"))}.`);
}

/** Every way to ask: the given mix with one visit and with returns, and the others with returns. */
function questions({ description }: Population): Question[] {
  const total = Object.values(description.mixes).reduce((sum, { weight }) => sum + weight, 0);
  const cellular = (description.mixes["cellular"]?.weight ?? 0) / total;
  const withCellular =
    (share: number) =>
    ({ mix }: MeasuredClient): number =>
      mix === "cellular" ? share / cellular : (1 - share) / (1 - cellular);
  const usual = { countsPackets: true, rehearses: false, withReturns: true, weightOf: () => 1 };
  return [
    { ...usual, about: "One visit, by a client that nobody has seen", withReturns: false },
    { ...usual, about: "A visit and up to two returns" },
    { ...usual, about: "The same with Cloudflare's inputs: RTT, and no packets counted", countsPackets: false },
    { ...usual, about: "The same where the edge rehearses", rehearses: true },
    { ...usual, about: "A fifth of the clients cellular", weightOf: withCellular(0.2) },
    { ...usual, about: "Three fifths of the clients cellular", weightOf: withCellular(0.6) },
    { ...usual, about: "Half as many clients with loss", weightOf: ({ lossRatio }) => (lossRatio > 0 ? 0.5 : 1) },
    { ...usual, about: "Twice as many clients with loss", weightOf: ({ lossRatio }) => (lossRatio > 0 ? 2 : 1) },
  ];
}

/** The shipped policy of a stack. @throws UserError */
export function policyIn(folder: string, { tcp, quic }: Stack): Policy {
  const file = join(resolve(ROOT, folder), ...(quic === "quic-go" ? [] : [quic]), `${tcp}.json`);
  const parsed = parsePolicy(JSON.parse(readFileSync(file, "utf8")));
  if (parsed.ok) return parsed.value;
  throw new UserError(`${file} is no valid policy: ${parsed.faults.map(({ pointer }) => pointer).join(", ")}.`);
}
