/**
 * A response header with the value that Alt-Svc is to have. For a server that sets Alt-Svc by rules of its own (policy-api/compiled).
 */
export const MARKER_HEADER = "h3-advice";

/** What a response tells the client about HTTP/3. */
export type Advertise =
  { readonly kind: "h3"; readonly maS: number } | { readonly kind: "nothing" } | { readonly kind: "clear" };

/**
 * The value of the Alt-Svc header (RFC 7838 section 3). Undefined: send no header.
 *
 * `clear` takes back every earlier offer. A response without the header takes back nothing. `persist` is never sent: an
 * offer must not outlive the client's stay on the network that it was made for.
 *
 * @param port The port that the client used: HTTP/3 is served on the same number.
 */
export function altSvcValue(advertise: Advertise, port: number): string | undefined {
  switch (advertise.kind) {
    case "h3":
      return `h3=":${port}"; ma=${advertise.maS}`;
    case "clear":
      return "clear";
    case "nothing":
      return undefined;
  }
}
