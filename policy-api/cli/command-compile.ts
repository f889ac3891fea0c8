import { resolve } from "node:path";
import { drawnAnswersOf, notCompiled } from "../decision/compiled/answers.ts";
import { markerRules, PHASE, terraformOf } from "../decision/compiled/cloudflare.ts";
import { answersQuic, canDraw, compiled, TARGETS } from "../decision/compiled/targets.ts";
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
  usage: "FILE --to TARGET [--host NAME] [--dry-run] [--terraform] [--out FILE]",
  summary: "Write a policy's answers to new clients as a rule of another server. Needs no server.",
  details: `TARGET is cloudflare-rule, nginx, haproxy or vcl. The rule looks at the RTT of the connection
alone, and answers as the policy does where nothing else is known. It remembers nobody: no loss,
no earlier page, no pause where UDP is blocked.

cloudflare-rule is the ${IN_A_ZONE}

For cloudflare-rule a policy may draw clients: by exploration.share, or by the method share. A rule
draws by a hash of the client's address, which needs no memory, and names the arm in the page's
Server-Timing, as h3-arm. \`results\` knows nothing of such arms: your own measurement of visitors
compares them.

--dry-run asks Cloudflare whether the zone of --host would take the rules, and changes nothing. It
needs a token in CLOUDFLARE_API_TOKEN that may edit the zone's Transform Rules.

For a stored version write its file first: npm run --silent policy -- show active > FILE

Ends with 1 if the policy says what no rule can do, or if Cloudflare refuses the rules.`,
  options: ["to", "host", "dry-run", "terraform", "out"],
  words: [1, 1],
  async run(call) {
    const { words, options, io } = call;
    const { to, host, terraform = false, "dry-run": isDry = false } = options;
    const [name = ""] = words;
    if (to === undefined) throw misused(`--to says what to write: ${TARGETS.join(", ")}.`);
    const isZone = to === "cloudflare-rule";
    if (!isZone && (host !== undefined || terraform || isDry)) {
      const option = terraform ? "--terraform" : isDry ? "--dry-run" : "--host";
      throw misused(`${option} is for cloudflare-rule alone: ${to} stands in one server's configuration.`);
    }
    if (isDry && host === undefined) throw misused("--dry-run wants --host: it says which zone is asked.");
    if (isDry && (terraform || options.out !== undefined))
      throw misused(`--dry-run writes no rules: leave ${terraform ? "--terraform" : "--out"} out.`);
    const policy = readPolicyFile(name, io);
    const faults = notCompiled(policy, canDraw(to));
    if (faults.length > 0)
      throw new Failure(EXIT.refused, `No rule can do what ${name} says.`, { faults, place: name });
    const rules = compiled(policy, to, host);
    const isDrawn = isZone && drawnAnswersOf(policy).length > 0;
    if (isDry && host !== undefined) return checked(rules, host, io, isDrawn);
    const where = [
      isZone ? placed(terraform) : "Its first lines say where it belongs.",
      ...(answersQuic(to) ? [] : ["Over HTTP/3 nothing is said, and an offer ends by its ma."]),
      ...(isDrawn ? [ARMS_NOTE] : []),
    ].join("\n");
    // What goes to stdout is the rule alone.
    if (isDrawn && options.out === undefined) io.stderr.write(`${ARMS_NOTE}\n`);
    return written(call, rules, where);
  },
};

const ARMS_NOTE = `The rules draw arms. \`results\` does not see them: compare the arms by your own measurement of visitors, which reads
h3-arm in Server-Timing (docs/rule-arms.md).`;

/** What Cloudflare says of rules for the zone of a host. */
async function checked(rules: string, host: string, { env }: Call["io"], isDrawn: boolean): Promise<Result> {
  const replaced = await dryRun(rules, host, env);
  const { length: count } = (JSON.parse(rules) as { rules: readonly unknown[] }).rules;
  const text = [
    `Cloudflare would take these ${count} rules for the zone of ${host}. Nothing was changed.`,
    replaced === 0
      ? "The phase has no rules there now."
      : `They would take the place of the ${replaced} rules that are there.`,
    ...(isDrawn ? [ARMS_NOTE] : []),
  ].join("\n");
  return { text, json: { target: "cloudflare-rule", host, isTaken: true, rules: count, replaced } };
}

export const MARKER_RULE: Command = {
  name: "marker-rule",
  usage: "[--host NAME] [--terraform] [--out FILE]",
  summary: "Write the rules of a zone for a worker that answers by a marker. Needs no server.",
  details: `For a worker on Cloudflare with ACTUATOR = "marker", whose answers a Response Header Transform Rule
makes Alt-Svc of. It prints the ${IN_A_ZONE}`,
  options: ["host", "terraform", "out"],
  run: (call) => written(call, markerRules(call.options.host), placed(call.options.terraform === true)),
};

/** Prints rules, or writes them into the file that --out names and says how they come into force. */
function written({ options, io }: Call, rules: string, where: string): Result {
  const { to: target, terraform = false, out } = options;
  const text = terraform ? terraformOf(rules) : rules;
  if (out === undefined) return { text: text.trimEnd(), isVerbatim: true, json: { target, text } };
  const file = resolve(io.folder, out);
  writeNewFile(file, text, "the rule");
  return { text: `The rule is in ${file}.\n${where}`, json: { target, file, text } };
}

/** How an owner puts rules in place that are in a file. */
function placed(isTerraform: boolean): string {
  const call = `It is the body of PUT /zones/ZONE/rulesets/phases/${PHASE}/entrypoint, which replaces`;
  return [
    isTerraform ? "`terraform apply -var zone_id=ZONE` puts it in place, and takes away" : call,
    "ALL rules of that phase: put your own ones beside it first.",
  ].join(" ");
}
