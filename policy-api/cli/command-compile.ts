import { resolve } from "node:path";
import { notCompiled } from "../compiled/answers.ts";
import { compiled, answersQuic, TARGETS } from "../compiled/targets.ts";
import type { Command } from "./command.ts";
import { EXIT, Failure, misused } from "./failure.ts";
import { writeNewFile } from "./new-file.ts";
import { readPolicyFile } from "./policy-file.ts";

export const COMPILE: Command = {
  name: "compile",
  usage: "FILE --to TARGET [--out FILE]",
  summary: "Write a policy's answers to new clients as a rule of another server. Needs no server.",
  details: `TARGET is cloudflare-rule, nginx, haproxy or vcl. The rule looks at the RTT of the connection
alone, and answers as the policy does where nothing else is known. It remembers nobody: no loss,
no earlier page, no pause where UDP is blocked. --out writes to a FILE that is not there yet.

cloudflare-rule is the body of PUT /zones/ZONE/rulesets/phases/http_response_headers_transform/
entrypoint. That call replaces ALL rules of the phase: put your own ones beside it first. The rules
are for all hosts of the zone, and take every other Alt-Svc away there.

For a stored version write its file first: npm run --silent policy -- show active > FILE

Ends with 1 if the policy says what no rule can do.`,
  options: ["to", "out"],
  words: [1, 1],
  run({ words: [name = ""], options: { to, out }, io }) {
    if (to === undefined) throw misused(`--to says what to write: ${TARGETS.join(", ")}.`);
    const policy = readPolicyFile(name, io);
    const faults = notCompiled(policy);
    if (faults.length > 0)
      throw new Failure(EXIT.refused, `No rule can do what ${name} says.`, { faults, place: name });
    const text = compiled(policy, to);
    if (out === undefined) return { text: text.trimEnd(), json: { target: to, text } };
    const file = resolve(io.folder, out);
    writeNewFile(file, text, "the rule");
    const lines = [
      `The rule is in ${file}.`,
      to === "cloudflare-rule"
        ? "It is the body of PUT /zones/ZONE/rulesets/phases/http_response_headers_transform/entrypoint, which replaces\nALL rules of that phase: put your own ones beside it first."
        : "Its first lines say where it belongs.",
      ...(answersQuic(to) ? [] : ["Over HTTP/3 nothing is said, and an offer ends by its ma."]),
    ];
    return { text: lines.join("\n"), json: { target: to, file, text } };
  },
};
