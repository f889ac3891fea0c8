import type { Answer } from "./client.ts";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, type ExitCode, Failure } from "./failure.ts";
import { printable } from "./printable.ts";
import { having, isText, listOf, orAbsent } from "./shape.ts";

/** Problem details (RFC 9457) as this API sends them. */
interface Problem {
  readonly title: string;
  readonly detail?: string;
  readonly faults?: readonly { readonly pointer: string; readonly message: string }[];
}
const isProblem = having({
  title: isText,
  detail: orAbsent(isText),
  faults: orAbsent(listOf(having({ pointer: isText, message: isText }))),
});

/** What an answer that is none of the good ones means to whoever asked. */
export function refusal(endpoint: Endpoint, { status, headers }: Answer, body: unknown): Failure {
  const { token, origin } = endpoint;
  // A server that repeats what it was sent must not have it printed.
  const clean = (text: string): string => printable(token === undefined ? text : text.replaceAll(token, "[the token]"));
  const problem = isProblem(body) ? (body as Problem) : undefined;
  const answer = problem === undefined ? String(status) : `${status} ${clean(problem.title)}`;
  const title = (): string => {
    if (status >= 300 && status < 400)
      return `${origin} sends on to ${clean(headers.location ?? "nowhere")} (${status}): give the address itself.`;
    if (status === 401) return `The server does not know this token (${answer}).`;
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
    ...(problem?.detail === undefined ? {} : { detail: clean(problem.detail) }),
    faults: (problem?.faults ?? []).map(({ pointer, message }) => ({
      pointer: clean(pointer),
      message: clean(message),
    })),
  });
}

function exitCodeOf(status: number, isApi: boolean): ExitCode {
  if (status === 401 || status === 403 || status === 429) return EXIT.token;
  if (status === 412) return EXIT.changed;
  return isApi && status >= 400 && status < 500 ? EXIT.refused : EXIT.unreachable;
}

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing answers there (connection refused): is it running?",
  ENOTFOUND: "Its name is not known.",
  EAI_AGAIN: "Its name cannot be looked up now.",
  EHOSTUNREACH: "There is no way to it from here.",
  ENETUNREACH: "There is no way to it from here.",
  ETIMEDOUT: "It does not answer.",
  ECONNRESET: "It closed the connection without an answer.",
  EPIPE: "It closed the connection without an answer.",
  EPROTO: "It does not speak TLS there.",
  ERR_SSL_WRONG_VERSION_NUMBER: "It does not speak TLS there.",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "It does not speak TLS there.",
  ERR_TLS_CERT_ALTNAME_INVALID: "Its certificate is for another name.",
  CERT_HAS_EXPIRED: "Its certificate has expired.",
};
/** No connection: nothing can have been changed. */
const BEFORE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPROTO",
]);

/** What a connection that failed means. */
export function unreachable(endpoint: Endpoint, error: unknown, isLate: boolean, changes: boolean): Failure {
  const code = codeOf(error);
  const isCertificate = /CERT|SIGNED|SIGNATURE|ISSUER|ERR_SSL|ERR_TLS/.test(code);
  const why = isLate
    ? `It does not answer within ${endpoint.timeoutMs / 1000} s.`
    : (NETWORK[code] ??
      (isCertificate
        ? `Its certificate is not trusted (${code}): give the root certificate with --ca.`
        : `The connection failed (${code}).`));
  const isOpen = changes && (isLate || !(isCertificate || BEFORE.has(code)));
  return new Failure(
    EXIT.unreachable,
    `${endpoint.origin} cannot be reached. ${why}`,
    isOpen ? { detail: "Whether it made the change is not known: `status` and `list` tell." } : {},
  );
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  // Of several addresses that were tried, the first: they seldom differ.
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "no reason given";
}
