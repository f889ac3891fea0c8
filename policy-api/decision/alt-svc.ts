/**
 * A response header with the value that Alt-Svc is to have. For a server that sets Alt-Svc by rules of its own (policy-api/decision/compiled).
 */
export const MARKER_HEADER = "h3-advice";

/**
 * How answers reach browsers. `header`: in Alt-Svc. `marker`: in a header that browsers do not know, which a rule of the zone makes
 * Alt-Svc of. That rule also takes Alt-Svc away where there is no such header, as on images that pass no worker.
 */
export const ACTUATORS = ["header", "marker"] as const;
export type Actuator = (typeof ACTUATORS)[number];

/** The header in which a response has the answer. */
export const ANSWER_HEADERS = { header: "alt-svc", marker: MARKER_HEADER } as const satisfies Record<Actuator, string>;

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
