import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of the first of these programs that is on the PATH. */
export function findProgram(...names: readonly string[]): string | undefined {
  for (const name of names)
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
      const file = join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        continue;
      }
    }
  return undefined;
}
