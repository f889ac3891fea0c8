import { parsePolicy, type Policy } from "../decision/policy.ts";
import type { Api } from "./api.ts";
import type { Call } from "./command.ts";
import { EXIT, Failure } from "./failure.ts";
import { readPolicyFile } from "./files.ts";
import { readVersion } from "./options.ts";

/** Names the version that everyone gets. */
const ACTIVE = "active";

/** Finds a policy by a version's number, by `active` or by a file's name. @throws Failure */
export async function namedPolicy(name: string, { api, io }: Call): Promise<{ name: string; policy: Policy }> {
  if (name !== ACTIVE && !/^\d+$/.test(name)) return { name, policy: readPolicyFile(name, io) };
  const { version, policy } = readable(await namedVersion(name, await api()));
  return {
    name: `${name === ACTIVE ? "active, " : ""}version ${version}`,
    policy: fromServer(policy, `version ${version}`),
  };
}

/** A policy that the server sent, as this program reads it. @throws Failure */
export function fromServer(policy: unknown, place: string): Policy {
  const parsed = parsePolicy(policy);
  if (parsed.ok) return parsed.value;
  throw new Failure(EXIT.refused, `This program cannot read ${place}: is it of another age than the server?`, {
    faults: parsed.faults,
    place,
  });
}

/** A version whose policy the server can still read. @throws Failure */
export function readable<T extends { readonly version: number; readonly policy: unknown }>(stored: T): T {
  if (stored.policy !== null) return stored;
  throw new Failure(EXIT.refused, `The server cannot read version ${stored.version} any more. \`push\` a new policy.`);
}

/** Finds a stored version by its number, or the active one. @throws Failure */
export async function namedVersion(name: string, api: Api): ReturnType<Api["version"]> {
  const version = name === ACTIVE ? (await api.activation()).activation.everyone : readVersion(name, "The version");
  return api.version(version);
}
