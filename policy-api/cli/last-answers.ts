import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure, object, parse, text } from "../decision/parse.ts";
import type { KeptAnswer } from "./dashboard-page/data.ts";
import { EXIT, Failure } from "./failure.ts";

/** The commands whose last answer stays, for the dashboard. */
export const KEPT_COMMANDS = ["doctor", "cost"] as const;
type KeptCommand = (typeof KEPT_COMMANDS)[number];

/** Longer than any of them, and short enough for a page. */
const TEXT_MAX = 100_000;

const readAnswer = object<KeptAnswer>({ command: text(TEXT_MAX), atMs: figure, text: text(TEXT_MAX) });

function fileOf(stateFolder: string, name: KeptCommand): string {
  return join(stateFolder, `last-${name}.json`);
}

/** Keeps what a command answered, in the place of its answer before. @throws if it cannot be written */
export function keepAnswer(stateFolder: string, name: KeptCommand, answer: KeptAnswer): void {
  const file = fileOf(stateFolder, name);
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  // In one step, as the dashboard may read at any time.
  writeFileSync(`${file}.new`, JSON.stringify(answer), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** What a command answered last. Null: nothing is kept. @throws Failure if it cannot be read */
export function lastAnswer(stateFolder: string, name: KeptCommand): KeptAnswer | null {
  const file = fileOf(stateFolder, name);
  try {
    const parsed = parse(readAnswer, JSON.parse(readFileSync(file, "utf8")));
    if (parsed.ok) return parsed.value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
  }
  throw new Failure(EXIT.refused, `${file} cannot be read: \`npm run policy -- ${name}\` writes it again.`);
}
