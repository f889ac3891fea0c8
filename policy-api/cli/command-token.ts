import { createHash, randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Command } from "./command.ts";
import { misused } from "./failure.ts";
import { writeNewFile } from "./files.ts";
import { columnsOf, wrapped } from "./table.ts";

/** As long as the SHA-256 of the token, which is what the server keeps. */
const TOKEN_BYTES = 32;

export const TOKEN: Command = {
  name: "token",
  usage: "NAME --scope read|write|autopilot --out FILE",
  summary: "Make a token: writes the secret to FILE, and prints what the server has to know.",
  details: `Only you can read FILE, which is not there yet. Prints the entry NAME:SCOPE:SHA-256 for the server's
variable POLICY_TOKENS, where commas or spaces separate entries. The audit shows NAME.`,
  options: ["scope", "out"],
  words: [1, 1],
  run({ words: [name = ""], options, io }) {
    const { scope, out } = options;
    if (!/^[a-z0-9][a-z0-9._-]{0,39}$/.test(name))
      throw misused("A token's name begins with a-z or 0-9 and has up to 40 of a-z, 0-9, dot, dash and underscore.");
    if (scope === undefined) throw misused("--scope read, write or autopilot is missing.");
    if (out === undefined) throw misused("--out FILE is missing: the token itself is never printed.");
    const file = resolve(io.folder, out);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    writeNewFile(file, `${token}\n`, "the token", 0o600);
    const entry = `${name}:${scope}:${createHash("sha256").update(token).digest("hex")}`;
    const where = `The token is in ${file}. The server knows it once this entry is in POLICY_TOKENS:`;
    io.stderr.write(`${wrapped(where, columnsOf(io, io.stderr))}\n`);
    return { json: { name, scope, entry, file }, text: entry, isVerbatim: true };
  },
};
