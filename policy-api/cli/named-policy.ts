import { parsePolicy } from "../core/parse-policy.ts";
import type { Policy } from "../core/policy.ts";
import type { Api } from "./api.ts";
import type { Call } from "./command.ts";
import { EXIT, Failure } from "./failure.ts";
import { readPolicyFile } from "./policy-file.ts";
import { readVersion } from "./values.ts";

/** Names the version that everyone gets. */
const ACTIVE = "active";

/** Finds a policy by a version's number, by `active` or by a file's name. @throws Failure */
export async function namedPolicy(name: string, { api, io }: Call): Promise<{ name: string; policy: Policy }> {
  if (name !== ACTIVE && !/^\d+$/.test(name)) return { name, policy: readPolicyFile(name, io) };
  const { version, policy } = await namedVersion(name, await api());
  const parsed = parsePolicy(policy);
  if (parsed.ok) return { name: `${name === ACTIVE ? "active, " : ""}version ${version}`, policy: parsed.value };
  throw new Failure(
    EXIT.refused,
    `This program cannot read version ${version}: is it of another age than the server?`,
    { faults: parsed.faults, place: `version ${version}` },
  );
}

/** Finds a stored version by its number, or the active one. @throws Failure */
export async function namedVersion(name: string, api: Api): ReturnType<Api["version"]> {
  const version = name === ACTIVE ? (await api.activation()).activation.everyone : readVersion(name, "The version");
  try {
    return await api.version(version);
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.refused || error.details.status !== 404) throw error;
    throw new Failure(EXIT.refused, `There is no version ${version}: \`list\` shows them all.`, { status: 404 });
  }
}
