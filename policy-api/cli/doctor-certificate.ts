import { isIP } from "node:net";
import { connect, getCACertificates } from "node:tls";

/** Whether a site's certificate comes from a root that browsers bring with them. Undefined: that is not known. */
interface Certificate {
  readonly isPublic: boolean | undefined;
  /** Who issued it, or why nothing is known. */
  readonly why: string;
}

const TIMEOUT_MS = 5_000;
/** What OpenSSL says of a chain that ends at no root that it was given. */
const UNKNOWN_ROOT: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/**
 * Looks at the certificate of a site with Mozilla's list of roots alone, which Node brings with it. Over HTTP/3 browsers want a root of
 * theirs, even where a person or a company has told them to trust another: Chromium refuses the QUIC connection
 * (ERR_QUIC_CERT_ROOT_NOT_KNOWN), Firefox closes it (`network.http.http3.disable_when_third_party_roots_found`). Never rejects.
 *
 * @param roots PEM, in the place of that list
 */
export async function lookAtCertificate(
  { hostname, port }: URL,
  roots: readonly string[] = getCACertificates("bundled"),
): Promise<Certificate> {
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port) || 443,
      ca: [...roots],
      ALPNProtocols: ["h2"],
      ...(isIP(host) === 0 && { servername: host }),
      // What is wrong with it is the answer.
      rejectUnauthorized: false,
    });
    const say = (certificate: Certificate): void => {
      socket.destroy();
      resolve(certificate);
    };
    socket.setTimeout(TIMEOUT_MS, () => say({ isPublic: undefined, why: `no answer in ${TIMEOUT_MS / 1000} s` }));
    socket.once("error", ({ message }) => say({ isPublic: undefined, why: message }));
    socket.once("secureConnect", () => {
      const { O, CN } = socket.getPeerCertificate().issuer ?? {};
      const issuer = `issued by ${[O ?? CN ?? "nobody with a name"].flat().join(", ")}`;
      if (socket.authorized) return say({ isPublic: true, why: issuer });
      const fault = codeOf(socket.authorizationError);
      return say({
        isPublic: UNKNOWN_ROOT.has(fault) ? false : undefined,
        why: UNKNOWN_ROOT.has(fault) ? issuer : `${issuer}; ${fault}`,
      });
    });
  });
}

/** Node's types say that it is an error; it is the error's code. */
function codeOf(fault: unknown): string {
  return fault instanceof Error ? ((fault as NodeJS.ErrnoException).code ?? fault.message) : String(fault);
}
