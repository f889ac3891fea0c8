import type * as shown from "./contract/activation.ts";
import type * as audit from "./contract/audit.ts";
import type * as policies from "./contract/policies.ts";
import type { Activation, ActivePolicy } from "../decision/activation.ts";
import type { AuditEntry, PolicyVersion } from "../decision/versions.ts";

// The store's records as the API shows them. Times are text.

export function versionView(version: PolicyVersion): policies.PolicyVersion {
  const { contentHash, author, note, createdAtMs, mode, source } = version;
  return { version: version.version, contentHash, author, note, createdAt: isoTime(createdAtMs), mode, source };
}

export function activationView(activation: Activation): shown.Activation {
  const { stages, atMs, ...rest } = activation;
  return { ...rest, stages: [...stages], at: isoTime(atMs) };
}

export function auditView(entry: AuditEntry): audit.AuditEntry {
  const { id, atMs, actor, action, version, revision, activation, note } = entry;
  return {
    id,
    at: isoTime(atMs),
    actor,
    action,
    version,
    revision,
    activation: activation && { ...activation, stages: [...activation.stages] },
    note,
  };
}

/** For a version in force whose policy cannot be read. */
export function silentText({ version, fault = "cannot be read any more" }: ActivePolicy): string {
  return `version ${version} is in force and offers nothing, as it ${fault}`;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
