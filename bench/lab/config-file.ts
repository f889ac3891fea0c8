import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Copies a file of bench/lab/config into a folder, with values in place of `{{names}}`; returns the copy's path. */
export function copyConfig(name: string, folder: string, values: Readonly<Record<string, string>>): string {
  const text = readFileSync(join(import.meta.dirname, "config", name), "utf8").replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, key: string) => {
      const value = values[key];
      if (value === undefined) throw new Error(`${name} needs ${key}.`);
      return value;
    },
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}
