import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "./command.ts";
import { readPolicyFile } from "./policy-file.ts";
import { policyText } from "./policy-text.ts";
import { count } from "./quantities.ts";

export const VALIDATE: Command = {
  name: "validate",
  usage: "FILE",
  summary: "Say what a policy is, or everything that is wrong with it. Needs no server.",
  details: "Every fault is a line: the file, the JSON pointer to the place, what should be there.",
  words: [1, 1],
  run({ words: [file = ""], io }) {
    const policy = readPolicyFile(file, io);
    const { size } = statSync(resolve(io.folder, file));
    const { mode, method, provenance } = policy;
    return {
      text: `${file} is a valid policy of ${count(size)} bytes.\n\n${policyText(policy)}`,
      json: { valid: true, bytes: size, mode, method: method?.kind ?? null, provenance: provenance ?? null },
    };
  },
};
