import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";

/** The text of one of this project's systemd units. */
export function unitText(name: "worker" | "edge"): string {
  return readFileSync(join(ROOT, `infra/systemd/adaptive-h3-${name}.service`), "utf8");
}

/** The words of a unit's command, with its lines joined as systemd joins them. */
export function commandOf(text: string, key: "ExecStart" | "ExecStartPre"): string[] {
  const line = new RegExp(`^${key}=(.*)$`, "m").exec(text.replaceAll("\\\n", " "))?.[1];
  return (line ?? "").trim().split(/\s+/);
}
