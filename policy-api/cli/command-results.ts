import { resolve } from "node:path";
import type { Command } from "./command.ts";
import { EXIT, misused } from "./failure.ts";
import { ofVersion } from "./named-policy.ts";
import { writeNewFile } from "./new-file.ts";
import { resultsPicture } from "./results-picture.ts";
import { resultsText } from "./results-text.ts";
import { readVersion } from "./values.ts";

export const RESULTS: Command = {
  name: "results",
  usage: "[VERSION] [--out FILE.svg]",
  summary: "Compare visitors that were offered HTTP/3 with those that were not.",
  details: `By what the pages of drawn clients reported under VERSION; without it, under the version that is
in force for everyone. Ends with a sentence that says what can be said, and claims no more. With
--json also by cell of the gain table. --out draws what is saved by class of RTT, with intervals,
into a FILE.svg that is not there yet.

Ends with 5 if no object of the store answers.`,
  options: ["out"],
  words: [0, 1],
  async run({ words: [name], options: { out }, io, api, columns }) {
    const version = readVersionArgument(name);
    // Somebody who wants figures in a file means --json.
    if (out?.endsWith(".svg") === false) throw misused("--out draws a picture: its FILE ends with .svg.");
    const results = await ofVersion(version, (await api()).results(version));
    const { asked, answered } = results.objects;
    const file = out === undefined ? undefined : resolve(io.folder, out);
    if (file !== undefined) writeNewFile(file, resultsPicture(results), "the picture");
    return {
      json: { ...results, ...(file && { file }) },
      text: [resultsText(results, columns), ...(file === undefined ? [] : ["", `The picture is in ${file}.`])].join(
        "\n",
      ),
      exitCode: asked > 0 && answered === 0 ? EXIT.unreachable : EXIT.done,
    };
  },
};

/** The version that a line names. Undefined: the one in force. @throws Failure */
export function readVersionArgument(name: string | undefined): number | undefined {
  return name === undefined ? undefined : readVersion(name, "The version");
}
