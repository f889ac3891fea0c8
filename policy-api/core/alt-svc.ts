/** What a response tells the client about HTTP/3. */
export type Advertise =
  { readonly kind: "h3"; readonly maS: number } | { readonly kind: "nothing" } | { readonly kind: "clear" };

/**
 * The value of the Alt-Svc header, or undefined for none (RFC 7838 section 3).
 *
 * `clear` takes back every earlier offer; leaving the header out takes back none. `persist` is never sent: an offer
 * must not outlive the network that it was made for.
 *
 * @param port The port that the client came to; HTTP/3 is served on the same number.
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
