import { resolve } from "node:path";
import { drawnAnswersOf, notCompiled } from "../decision/compiled/answers.ts";
import { markerRules, PHASE, REQUEST_PHASE, type Ruleset, terraformOf } from "../decision/compiled/cloudflare.ts";
import { answersQuic, armsOfReports, canDraw, compiled, TARGETS } from "../decision/compiled/targets.ts";
import type { Policy } from "../decision/policy.ts";
import type { Call, Command, Result } from "./command.ts";
import { dryRun } from "./dry-run.ts";
import { EXIT, Failure, misused } from "./failure.ts";
import { readPolicyFile, writeNewFile } from "./files.ts";

/** Of the rules of a zone. */
const IN_A_ZONE = `body of PUT
/zones/ZONE/rulesets/phases/${PHASE}/entrypoint. That call replaces ALL rules
of the phase: put your own ones beside them first. The rules are for all hosts of the zone, and take
every other Alt-Svc away there: --host names the one host that they are for. --terraform writes them
as a file for Terraform instead (NAME.tf.json, Cloudflare's provider 5). There too they are all rules
of the phase. --out writes to a FILE that is not there yet.`;

export const COMPILE: Command = {
  name: "compile",
  usage: "FILE --to TARGET [--host NAME] [--reports] [--dry-run] [--terraform] [--out FILE]",
  summary: "Write a policy's answers to new clients as a rule of another server. Needs no server.",
  details: `TARGET is cloudflare-rule, nginx, haproxy or vcl. The rule looks at the RTT of the connection
alone, and answers as the policy does where nothing else is known. It remembers nobody: no loss,
no earlier page, no pause where UDP is blocked.

cloudflare-rule is the ${IN_A_ZONE}

For cloudflare-rule a policy may draw clients: by exploration.share, or by the method share. A rule
draws by a hash of the client's address, which needs no memory, and names the arm in the page's
Server-Timing, as h3-arm. With reports.share 1 the pages of the arms report, and \`results\` compares
them. For that --reports writes further rules, of the phase ${REQUEST_PHASE}, which
tell the worker the arm of each report.

--dry-run asks Cloudflare whether the zone of --host would take all rules, and changes nothing. It
needs a token in CLOUDFLARE_API_TOKEN that may edit the zone's Transform Rules.

For a stored version write its file first: npm run --silent policy -- show active > FILE

Ends with 1 if the policy says what no rule can do, or if Cloudflare refuses the rules.`,
  options: ["to", "host", "reports", "dry-run", "terraform", "out"],
  words: [1, 1],
  async run(call) {
    const { words, options, io } = call;
    const { to, host, reports: ofReports = false, terraform = false, "dry-run": isDry = false } = options;
    const [name = ""] = words;
    if (to === undefined) throw misused(`--to says what to write: ${TARGETS.join(", ")}.`);
    const isZone = to === "cloudflare-rule";
    if (!isZone && (host !== undefined || terraform || isDry || ofReports)) {
      const option = terraform ? "--terraform" : isDry ? "--dry-run" : ofReports ? "--reports" : "--host";
      throw misused(`${option} is for cloudflare-rule alone: ${to} stands in one server's configuration.`);
    }
    if (ofReports && (isDry || terraform))
      throw misused(
        `${terraform ? "--terraform writes" : "--dry-run asks for"} the rules of both phases: leave --reports out.`,
      );
    if (isDry && host === undefined) throw misused("--dry-run wants --host: it says which zone is asked.");
    if (isDry && (terraform || options.out !== undefined))
      throw misused(`--dry-run writes no rules: leave ${terraform ? "--terraform" : "--out"} out.`);
    const policy = readPolicyFile(name, io);
    const faults = notCompiled(policy, canDraw(to));
    if (faults.length > 0)
      throw new Failure(EXIT.refused, `No rule can do what ${name} says.`, { faults, place: name });
    const rules = compiled(policy, to, host);
    if (!isZone) {
      const where = ["Its first lines say where it belongs."];
      if (!answersQuic(to)) where.push("Over HTTP/3 nothing is said, and an offer ends by its ma.");
      return written(call, rules, where.join("\n"));
    }
    const reports = armsOfReports(policy, host);
    if (ofReports && reports === undefined)
      throw new Failure(EXIT.refused, `${name} lets no page report an arm.`, {
        faults: [{ pointer: "/reports/share", message: "must be 1, and exploration.share above 0" }],
        place: name,
      });
    if (reports !== undefined && host === undefined)
      throw misused("A policy whose pages report wants --host: the worker's RULE_ARMS names that host.");
    const rulesets: readonly Ruleset[] = [
      ...(ofReports ? [] : [{ phase: PHASE, rules } as const]),
      ...(reports !== undefined && (ofReports || terraform || isDry)
        ? [{ phase: REQUEST_PHASE, rules: reports } as const]
        : []),
    ];
    const note = ofReports ? undefined : noteOfArms(policy, terraform);
    if (isDry && host !== undefined) return checked(rulesets, host, io, note);
    return writtenRules(call, rulesets, note);
  },
};

/** What the owner of rules that draw must know. Undefined: they draw nobody. */
function noteOfArms(policy: Policy, isWhole: boolean): string | undefined {
  if (drawnAnswersOf(policy).length === 0) return undefined;
  if (policy.reports.share <= 0)
    return `The rules draw arms, and no page reports them to \`results\`. A page's own script finds its arm in Server-Timing, as h3-arm
(docs/rule-arms.md).`;
  return `The rules draw arms. For \`results\` the worker must know the arm of each report: set its variable RULE_ARMS${
    isWhole ? "" : ", and\nput the rules in place that --reports writes, too"
  } (docs/rule-arms.md).`;
}

/** What Cloudflare says of rules for the zone of a host. */
async function checked(
  rulesets: readonly Ruleset[],
  host: string,
  { env }: Call["io"],
  note: string | undefined,
): Promise<Result> {
  const lines: string[] = [];
  const phases: object[] = [];
  for (const ruleset of rulesets) {
    const replaced = await dryRun(ruleset, host, env);
    const { length: rules } = (JSON.parse(ruleset.rules) as { rules: readonly unknown[] }).rules;
    lines.push(
      `Cloudflare would take these ${rules} rules for the zone of ${host}, in the phase ${ruleset.phase}. Nothing was changed.`,
      replaced === 0
        ? "The phase has no rules there now."
        : `They would take the place of the ${replaced} rules that are there.`,
    );
    phases.push({ phase: ruleset.phase, rules, replaced });
  }
  if (note !== undefined) lines.push(note);
  return { text: lines.join("\n"), json: { target: "cloudflare-rule", host, isTaken: true, phases } };
}

export const MARKER_RULE: Command = {
  name: "marker-rule",
  usage: "[--host NAME] [--terraform] [--out FILE]",
  summary: "Write the rules of a zone for a worker that answers by a marker. Needs no server.",
  details: `For a worker on Cloudflare with ACTUATOR = "marker", whose answers a Response Header Transform Rule
makes Alt-Svc of. It prints the ${IN_A_ZONE}`,
  options: ["host", "terraform", "out"],
  run: (call) => writtenRules(call, [{ phase: PHASE, rules: markerRules(call.options.host) }]),
};

/** Writes the rules of a zone: for Terraform those of all phases, else those of the first. */
function writtenRules(call: Call, rulesets: readonly Ruleset[], note?: string): Result {
  const [first] = rulesets;
  if (first === undefined) throw new Error("no rules");
  const { terraform = false, out } = call.options;
  const where = [placed(first.phase, terraform), ...(note === undefined ? [] : [note])].join("\n");
  // What goes to stdout is the rules alone.
  if (out === undefined) call.io.stderr.write(`${where}\n`);
  return written(call, terraform ? terraformOf(rulesets) : first.rules, where);
}

/** Prints a configuration, or writes it into the file that --out names and says how it comes into force. */
function written({ options, io }: Call, text: string, where: string): Result {
  const { to: target, out } = options;
  if (out === undefined) return { text: text.trimEnd(), isVerbatim: true, json: { target, text } };
  const file = resolve(io.folder, out);
  writeNewFile(file, text, "the rule");
  return { text: `The rule is in ${file}.\n${where}`, json: { target, file, text } };
}

/** How an owner puts rules in place that are in a file. */
function placed(phase: string, isTerraform: boolean): string {
  const call = `It is the body of PUT /zones/ZONE/rulesets/phases/${phase}/entrypoint, which replaces`;
  return [
    isTerraform ? "`terraform apply -var zone_id=ZONE` puts it in place, and takes away" : call,
    "ALL rules of that phase: put your own ones beside it first.",
  ].join(" ");
}
