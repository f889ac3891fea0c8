import { resolve } from "node:path";
import { markerRules, terraformOf } from "../decision/compiled/cloudflare.ts";
import type { Command } from "./command.ts";
import { writeNewFile } from "./new-file.ts";
import { placed } from "./zone-rules.ts";

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
