import { stageText } from "./activation-text.ts";
import type { Activation } from "../api/contract/activation.ts";
import type { PolicyVersion } from "../api/contract/policies.ts";
import { table } from "./table.ts";
import { whenText } from "./time-text.ts";

/** Versions of the policy, and for whom each is in force. */
export function versionTable(
  versions: readonly PolicyVersion[],
  activation: Activation,
  nowMs: number,
  columns: number,
): string {
  return table(
    ["version", "in force", "mode", "author", "created", "note"],
    versions.map(({ version, mode, author, createdAt, note }) => [
      version,
      inForceFor(version, activation),
      mode ?? "unreadable",
      author,
      whenText(createdAt, nowMs),
      note,
    ]),
    columns,
  );
}

function inForceFor(version: number, { everyone, stages }: Activation): string {
  return [
    ...(version === everyone ? ["everyone"] : []),
    ...stages.filter((stage) => stage.version === version).map(stageText),
  ].join(", ");
}
