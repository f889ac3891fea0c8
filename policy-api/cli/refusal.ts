import { ProblemDetails } from "../api/contract/replies.ts";
import { hasShape } from "../api/contract/reply-of.ts";
import type { Answer } from "./exchange.ts";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, type ExitCode, Failure } from "./failure.ts";
import { printable } from "./printable.ts";

/** What a refusal, or an answer that the API does not give, means to the user. */
export function refusal(endpoint: Endpoint, { status, headers }: Answer, body: unknown): Failure {
  const { token, origin } = endpoint;
  // A server may repeat the token, which must not be printed.
  const clean = (text: string): string => printable(token === undefined ? text : text.replaceAll(token, "[the token]"));
  const problem = hasShape(ProblemDetails, body) ? body : undefined;
  const answer = problem === undefined ? String(status) : `${status} ${clean(problem.title)}`;
  const title = (): string => {
    if (status >= 300 && status < 400)
      return `${origin} sends on to ${clean(headers.location ?? "nowhere")} (${status}): give the address itself.`;
    if (status === 401)
      return `The server does not know this token (${answer}): is its entry in POLICY_TOKENS, and is it the file that H3_TOKEN_FILE names?`;
    if (status === 403) return `The server does not allow this (${answer}).`;
    if (status === 429) {
      const wait = headers["retry-after"];
      return `There were too many failed attempts (${answer})${wait === undefined ? "" : `: try again in ${clean(wait)} s`}.`;
    }
    if (status >= 500) return `${origin} cannot answer now (${answer}).`;
    if (problem === undefined) return `${origin} answers ${status}, and not as the API does: is it the right server?`;
    return `The server refuses this (${answer}).`;
  };
  return new Failure(exitCodeOf(status, problem !== undefined), title(), {
    status,
    detail: problem && clean(problem.detail),
    faults: problem?.faults?.map(({ pointer, message }) => ({ pointer: clean(pointer), message: clean(message) })),
  });
}

function exitCodeOf(status: number, isApi: boolean): ExitCode {
  if (status === 401 || status === 403 || status === 429) return EXIT.token;
  if (status === 412) return EXIT.changed;
  return isApi && status >= 400 && status < 500 ? EXIT.refused : EXIT.unreachable;
}
