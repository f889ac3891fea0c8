import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { EMPTY_GAINS } from "../../../policy-api/outcomes/empty-table.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { readOptions, wholeNumber, words } from "../../model/options.ts";
import { readPopulation } from "../../model/population.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { priceIn } from "../calibrate/offered-pages.ts";
import type { Client } from "../population/draw.ts";
import { policyIn, STACKS } from "../population/population-command.ts";
import { type MeasuredClient, measuredClients, timesOf } from "../population/truth.ts";
import type { Stack } from "../senders/places.ts";
import { halve } from "../statistics/halves.ts";
import { seededRandom } from "../statistics/random.ts";
import { gainUnder, learnStack } from "./learn-stack.ts";
import { type Learnt, learningReport, type Site } from "./report.ts";
import type { Visitors } from "./visitors.ts";

const OPTIONS = {
  population: words("FILE", "who visits: a description, JSON", undefined),
  from: words("FOLDER", "a run of `clients` (bench/results/clients)", "bench/results/clients"),
  offers: words("FOLDER", "a run of `offers` (bench/results/offers)", "bench/results/offers"),
  policies: words("FOLDER", "the calibrated policies (policy-api/policies)", "policy-api/policies"),
  out: words("FOLDER", "where report and summary go (bench/results/learning)", "bench/results/learning"),
  seeds: wholeNumber("how many sites are played: each draws its visitors and halves anew (5)", [1, 1_000], 5),
  seed: wholeNumber("what the first site is drawn from (1)", [0, 2 ** 31 - 1], 1),
};

const LOOKS = [5_000, 10_000, 20_000, 50_000, 100_000, 200_000] as const;
const VISITS_TO_A_PROPOSAL = 2_000;
/** Of clients that draw: half of them are offered HTTP/3, half are not. */
const SHARE = 0.04;

/** Lets each stack's table be learnt by visitors, from nothing and from a wrong one. @throws UserError */
export function learningCommand(args: readonly string[]): void {
  const options = readOptions(args, OPTIONS);
  if (options.population === undefined) throw new UserError("--population FILE says who visits.");
  const { description } = readPopulation(resolve(options.population));
  const drawn = JSON.parse(
    readFileSync(join(ROOT, "bench/experiments/clients/clients.json"), "utf8"),
  ) as readonly Client[];
  const measured = measuredClients(drawn, rowsIn(resolve(ROOT, options.from), LOAD_ROW));
  const price = priceIn(resolve(ROOT, options.offers));
  const stacks = STACKS.map((stack): Learnt => {
    const calibrated = policyIn(options.policies, stack);
    const other = policyIn(options.policies, { ...stack, tcp: stack.tcp === "cubic" ? "bbr" : "cubic" });
    const sites = Array.from({ length: options.seeds }, (_, site): Site => {
      const seed = options.seed + site;
      const [visitors, judged] = halvesOf(measured, stack, seed).map((clients): Visitors => {
        const times = clients.map(({ loads }) => ({
          h2: timesOf(loads[stack.tcp] ?? []),
          h3: timesOf(loads[stack.quic] ?? []),
        }));
        return { clients, stack, times, price: (rttMs) => price(rttMs).log, countsPackets: true, description, seed };
      }) as [Visitors, Visitors];
      const learnt = (policy: Policy) => {
        const start = { ...policy, exploration: { share: SHARE } };
        return learnStack({ visitors, judged, start, looks: LOOKS, visitsToAProposal: VISITS_TO_A_PROPOSAL });
      };
      return {
        calibrated: gainUnder(calibrated, judged),
        wrong: gainUnder(other, judged),
        fromNothing: learnt({ ...calibrated, method: EMPTY_GAINS }),
        fromWrong: learnt(other),
      };
    });
    const found = { stack: `${stack.tcp}, ${stack.quic}`, sites };
    console.log(`${found.stack}: ${sites.map((site) => site.fromNothing.at(-1)?.gain.toFixed(3)).join(", ")}.`);
    return found;
  });
  const about = {
    command: ["npm run bench -- learning", ...args.map((arg) => (arg.startsWith("/") ? "FILE" : arg))].join(" "),
    sites: options.seeds,
    share: SHARE,
    visitsToAProposal: VISITS_TO_A_PROPOSAL,
  };
  const out = resolve(ROOT, options.out);
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "summary.json"), `${JSON.stringify({ ...about, stacks }, null, 1)}\n`);
  writeFileSync(join(out, "report.md"), learningReport(stacks, about));
  console.log(`Report: ${relative(process.cwd(), join(out, "report.md"))}.`);
}

/** Each client with one half of its loads, and with the other. */
function halvesOf(clients: readonly MeasuredClient[], { tcp, quic }: Stack, seed: number): MeasuredClient[][] {
  const pairs = clients.flatMap((client, i) => {
    const [ofTcp, ofQuic] = [client.loads[tcp], client.loads[quic]];
    if (ofTcp === undefined || ofQuic === undefined) return [];
    const random = seededRandom(seed, "learning", tcp, quic, i);
    const [h2, h3] = [halve(ofTcp, random), halve(ofQuic, random)];
    return [([0, 1] as const).map((half) => ({ ...client, loads: { [tcp]: h2[half], [quic]: h3[half] } }))];
  });
  return [0, 1].map((half) => pairs.flatMap((pair) => pair[half] ?? []));
}
