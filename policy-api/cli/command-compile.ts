import { resolve } from "node:path";
import { notCompiled } from "../decision/compiled/answers.ts";
import { markerRules, PHASE, terraformOf } from "../decision/compiled/cloudflare.ts";
import { answersQuic, compiled, TARGETS } from "../decision/compiled/targets.ts";
import type { Command } from "./command.ts";
import { EXIT, Failure, misused } from "./failure.ts";
import { readPolicyFile, writeNewFile } from "./files.ts";

export const COMPILE: Command = {
  name: "compile",
  usage: "FILE --to TARGET [--host NAME] [--terraform] [--out FILE]",
  summary: "Write a policy's answers to new clients as a rule of another server. Needs no server.",
  details: `TARGET is cloudflare-rule, nginx, haproxy or vcl. The rule looks at the RTT of the connection
alone, and answers as the policy does where nothing else is known. It remembers nobody: no loss,
no earlier page, no pause where UDP is blocked. --out writes to a FILE that is not there yet.

cloudflare-rule is the body of PUT
/zones/ZONE/rulesets/phases/http_response_headers_transform/entrypoint. That call replaces ALL rules
of the phase: put your own ones beside them first. The rules are for all hosts of the zone, and take
every other Alt-Svc away there: --host names the one host that they are for. --terraform writes them
as a file for Terraform instead (NAME.tf.json, Cloudflare's provider 5). There too they are all rules
of the phase.

For a stored version write its file first: npm run --silent policy -- show active > FILE

Ends with 1 if the policy says what no rule can do.`,
  options: ["to", "host", "terraform", "out"],
  words: [1, 1],
  run({ words: [name = ""], options: { to, host, terraform = false, out }, io }) {
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
    const rule = compiled(policy, to, host);
    const text = terraform ? terraformOf(rule) : rule;
    if (out === undefined) return { text: text.trimEnd(), isVerbatim: true, json: { target: to, text } };
    const file = resolve(io.folder, out);
    writeNewFile(file, text, "the rule");
    const lines = [
      ...(isZone
        ? [`The rules are in ${file}.`, placed(terraform)]
        : [`The rule is in ${file}.`, "Its first lines say where it belongs."]),
      ...(answersQuic(to) ? [] : ["Over HTTP/3 nothing is said, and an offer ends by its ma."]),
    ];
    return { text: lines.join("\n"), json: { target: to, file, text } };
  },
};

export const MARKER_RULE: Command = {
  name: "marker-rule",
  usage: "[--host NAME] [--terraform] [--out FILE]",
  summary: "Write the rules of a zone for a worker that answers by a marker. Needs no server.",
  details: `For a worker on Cloudflare with ACTUATOR = "marker", whose answers a Response Header Transform Rule
makes Alt-Svc of. Every other Alt-Svc is taken away, on all hosts of the zone: --host names the one
host that they are for. --out writes them to a FILE that is not there yet.

They are the body of PUT /zones/ZONE/rulesets/phases/http_response_headers_transform/entrypoint.
That call replaces ALL rules of the phase: put your own ones beside them first.
--terraform writes them as a file for Terraform instead (NAME.tf.json, Cloudflare's provider 5).
There too they are all rules of the phase.`,
  options: ["host", "terraform", "out"],
  run({ options: { host, terraform = false, out }, io }) {
    const rules = markerRules(host);
    const text = terraform ? terraformOf(rules) : rules;
    if (out === undefined) return { text: text.trimEnd(), isVerbatim: true, json: { text } };
    const file = resolve(io.folder, out);
    writeNewFile(file, text, "the rules");
    return {
      text: `The rules are in ${file}.\n${placed(terraform)}`,
      json: { file, text },
    };
  },
};

/** How an owner puts rules in place that are in a file. */
function placed(isTerraform: boolean): string {
  const call = `They are the body of PUT /zones/ZONE/rulesets/phases/${PHASE}/entrypoint, which replaces`;
  return [
    isTerraform ? "`terraform apply -var zone_id=ZONE` puts them in place, and takes away" : call,
    "ALL rules of that phase: put your own ones beside them first.",
  ].join(" ");
}
