import { resolve } from "node:path";
import { notCompiled } from "../decision/compiled/answers.ts";
import { markerRules, PHASE, terraformOf } from "../decision/compiled/cloudflare.ts";
import { answersQuic, compiled, TARGETS } from "../decision/compiled/targets.ts";
import type { Call, Command, Result } from "./command.ts";
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
  usage: "FILE --to TARGET [--host NAME] [--terraform] [--out FILE]",
  summary: "Write a policy's answers to new clients as a rule of another server. Needs no server.",
  details: `TARGET is cloudflare-rule, nginx, haproxy or vcl. The rule looks at the RTT of the connection
alone, and answers as the policy does where nothing else is known. It remembers nobody: no loss,
no earlier page, no pause where UDP is blocked.

cloudflare-rule is the ${IN_A_ZONE}

For a stored version write its file first: npm run --silent policy -- show active > FILE

Ends with 1 if the policy says what no rule can do.`,
  options: ["to", "host", "terraform", "out"],
  words: [1, 1],
  run(call) {
    const { words, options, io } = call;
    const { to, host, terraform = false } = options;
    const [name = ""] = words;
    if (to === undefined) throw misused(`--to says what to write: ${TARGETS.join(", ")}.`);
    const isZone = to === "cloudflare-rule";
    if (!isZone && (host !== undefined || terraform))
      throw misused(
        `${terraform ? "--terraform" : "--host"} is for cloudflare-rule alone: ${to} stands in one server's configuration.`,
      );
    const policy = readPolicyFile(name, io);
    const faults = notCompiled(policy);
    if (faults.length > 0)
      throw new Failure(EXIT.refused, `No rule can do what ${name} says.`, { faults, place: name });
    const where = [
      isZone ? placed(terraform) : "Its first lines say where it belongs.",
      ...(answersQuic(to) ? [] : ["Over HTTP/3 nothing is said, and an offer ends by its ma."]),
    ].join("\n");
    return written(call, compiled(policy, to, host), where);
  },
};

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
