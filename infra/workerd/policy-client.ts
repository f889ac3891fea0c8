import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { NewActivation } from "../../policy-api/api/contract/policies.ts";
import type { Stage } from "../../policy-api/decision/activation.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { UserError } from "../../base/user-error.ts";

export interface ApiReply {
  readonly status: number;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
  readonly headers: IncomingHttpHeaders;
}

export type ApiMethod = "GET" | "PUT" | "POST" | "DELETE";

/** Calls a worker's API over workerd's socket, without the edge. */
export async function callApi(
  socketPath: string,
  token: string,
  method: ApiMethod,
  resource: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiReply> {
  const call = request({
    socketPath,
    method,
    path: `/_h3/v1/${resource}`,
    headers: { authorization: `Bearer ${token}`, host: "localhost", ...headers },
  });
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(call, "response")) as [IncomingMessage];
  const said = await text(response);
  return { status: response.statusCode ?? 0, json: parsed(said), headers: response.headers };
}

/**
 * Stores a policy as a version and activates it for everyone, whatever was active before.
 *
 * @param onPaths Policies that other pages get, by what their paths begin with.
 * @param noteOf What a version's note is.
 * @returns the version for everyone.
 * @throws UserError if the API refuses a policy or its activation.
 */
export async function activatePolicy(
  socketPath: string,
  token: string,
  policy: Policy | object,
  onPaths: Readonly<Record<string, Policy>> = {},
  noteOf: (policy: Partial<Policy>) => string | undefined = () => undefined,
): Promise<number> {
  const everyone = await pushPolicy(socketPath, token, policy, noteOf(policy));
  const stages: Stage[] = [];
  for (const [pathPrefix, its] of Object.entries(onPaths))
    stages.push({ version: await pushPolicy(socketPath, token, its, noteOf(its)), share: 1, pathPrefix });
  const activation: NewActivation = { everyone, stages };
  const put = await callApi(socketPath, token, "PUT", "activation", activation, { "if-match": "*" });
  if (put.status !== 200) throw new UserError(`The policy was not activated: ${JSON.stringify(put.json)}`);
  return everyone;
}

async function pushPolicy(socketPath: string, token: string, policy: Policy | object, note?: string): Promise<number> {
  const created = await callApi(socketPath, token, "POST", "policies", { policy, ...(note !== undefined && { note }) });
  const { version } = (created.json ?? {}) as { version?: number };
  if (version === undefined) throw new UserError(`The policy was refused: ${JSON.stringify(created.json)}`);
  return version;
}

function parsed(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return undefined;
  }
}
