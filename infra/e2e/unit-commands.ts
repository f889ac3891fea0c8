import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";

/** The text of one of this project's systemd units. */
export function unitText(name: "worker" | "edge"): string {
  return readFileSync(join(ROOT, `infra/systemd/adaptive-h3-${name}.service`), "utf8");
}

/** The words of each of a unit's commands, with its lines joined as systemd joins them. */
export function commandsOf(text: string, key: "ExecStart" | "ExecStartPre"): string[][] {
  const lines = text.replaceAll("\\\n", " ").matchAll(new RegExp(`^${key}=-?(.*)$`, "gm"));
  return [...lines].map(([, line]) => (line ?? "").trim().split(/\s+/));
}

/** The values of a setting that a unit has, in order. */
export function valuesOf(text: string, key: string): string[] {
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value]) => value ?? "");
}
