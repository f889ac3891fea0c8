import { EXIT, Failure } from "./failure.ts";

/** Failures without a connection: the server cannot have changed anything. */
const UNCONNECTED: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing answers there (connection refused): is it running?",
  ENOTFOUND: "Its name is not known.",
  EAI_AGAIN: "Its name cannot be looked up now.",
  EHOSTUNREACH: "There is no way to it from here.",
  ENETUNREACH: "There is no way to it from here.",
  EPROTO: "It does not speak TLS there.",
  ERR_SSL_WRONG_VERSION_NUMBER: "It does not speak TLS there.",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "It does not speak TLS there.",
  ERR_TLS_CERT_ALTNAME_INVALID: "Its certificate is for another name.",
  CERT_HAS_EXPIRED: "Its certificate has expired.",
};
const CUT_OFF: Readonly<Record<string, string>> = {
  ETIMEDOUT: "It does not answer.",
  ECONNRESET: "It closed the connection without an answer.",
  EPIPE: "It closed the connection without an answer.",
};

/**
 * What a failed connection means to the user.
 *
 * @param lateMs the time limit, if the call took longer
 * @param changes whether the request changes something
 */
export function unreachable(origin: string, error: unknown, lateMs: number | undefined, changes: boolean): Failure {
  const code = codeOf(error);
  const isCertificate = /CERT|SIGNED|SIGNATURE|ISSUER|ERR_SSL|ERR_TLS/.test(code);
  const why =
    lateMs !== undefined
      ? `It does not answer within ${lateMs / 1000} s.`
      : (UNCONNECTED[code] ??
        CUT_OFF[code] ??
        (isCertificate
          ? `Its certificate is not trusted (${code}): give the root certificate with --ca.`
          : `The connection failed (${code}).`));
  const isOpen = changes && (lateMs !== undefined || !(isCertificate || code in UNCONNECTED));
  return new Failure(
    EXIT.unreachable,
    `${origin} cannot be reached. ${why}`,
    isOpen ? { detail: "Whether it made the change is not known: `status` and `list` tell." } : {},
  );
}

function codeOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  // If several addresses were tried, the first error counts, as they seldom differ.
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "no reason given";
}
