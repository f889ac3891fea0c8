import type { Actuator } from "../../decision/alt-svc.ts";
import type { Prediction } from "./predict.ts";

/** The host at which pages name their files. Undefined is what is not known. */
export interface AssetsHost {
  readonly origin: string;
  /** Whether a file or a DNS record offers HTTP/3 there. */
  readonly offers: boolean | undefined;
  /** Whether files there are as they are here. */
  readonly isSame: boolean | undefined;
  /** Whether browsers keep a file there from the site's pages (Cross-Origin-Resource-Policy). */
  readonly isKept: boolean;
}

/** What is known of a site after a look. Undefined is what is not known. */
export interface Looked {
  /** The site's name. */
  readonly host: string;
  /** What the deployment is set to. */
  readonly current: Actuator;
  readonly ways: Readonly<Record<Actuator, Prediction>>;
  /** Whether the marker itself reaches browsers: then no rule of the zone makes Alt-Svc of it. */
  readonly markerArrives: boolean;
  /** Whether files or errors offer HTTP/3, which pass no worker. */
  readonly othersOffer: boolean;
  /** Whether a DNS record offers HTTP/3. */
  readonly record: boolean | undefined;
  /** Whether a QUIC connection can be had. */
  readonly quic: boolean | undefined;
  /** Whether the certificate is from a root that browsers do not bring with them, so that they refuse QUIC. */
  readonly ownRoot: boolean;
  /** A port that an offer names, and to which Chromium does not go from the site's. Undefined: there is none. */
  readonly refusedPort: number | undefined;
  /** Whether a route leads the page to a worker. */
  readonly routed: boolean | undefined;
  /** Whether the worker sees an RTT. */
  readonly hasRtt: boolean;
  /** Whether most look-ups come too late for a page. */
  readonly isLate: boolean;
  /** Undefined where ASSETS is not set. */
  readonly assets?: AssetsHost | undefined;
}

/** What to do next, in the order in which it helps. Pure. */
export function advise(looked: Looked): readonly string[] {
  const { routed, hasRtt, isLate, refusedPort, assets } = looked;
  const named = `${assets?.origin}, which ASSETS names,`;
  const rest = [
    routed === false && "No route leads the page to a worker: nothing is decided for it.",
    !hasRtt && "The worker sees no RTT of its visitors, so it can decide nothing.",
    isLate &&
      "Look-ups come later than BUDGET_MS allows: such pages say nothing. Raise it, or expect an answer with the next page.",
    refusedPort !== undefined &&
      `An offer leads to port ${refusedPort}, and from a site's port below 1024 Chromium goes to none from 1024 on. Let it name the port that visitors reach, best 443: behind a balancer the one outside.`,
    assets?.isSame === false && `${named} does not serve the same files: pages break. Take ASSETS out.`,
    assets?.isKept === true &&
      `${named} keeps files from other hosts' pages: browsers block them. Let it say Cross-Origin-Resource-Policy: cross-origin, or take ASSETS out.`,
    assets?.offers === true && `${named} offers HTTP/3: it serves its purpose only without.`,
  ].filter((sentence) => sentence !== false);
  const first = ofAnswers(looked);
  if (first.length + rest.length === 0)
    return [
      'Nothing is to be done here. Where `status` says observe, activate a policy ("A staged change" in docs/operating.md).',
    ];
  return [...first, ...rest];
}

/** Chromium's net/http/broken_alternative_services.cc; of Firefox 153 infra/e2e/doctor-browsers.test.ts. */
const RESTS =
  "A Chromium that met this rests before it tries again: 300 s after the first two faults, then each time twice as long, up to two days. So it does not see at once that all is well again. Firefox does within some pages.";

function ofAnswers(looked: Looked): readonly string[] {
  const { host, current, ways, markerArrives, othersOffer, record, quic, ownRoot } = looked;
  const other: Actuator = current === "header" ? "marker" : "header";
  if (ways[current].works === true) return [];
  if (ownRoot)
    return [
      "The certificate is from a root that browsers do not bring with them. Over HTTP/3 they take no other, also where they trust it over HTTP/2: Chromium refuses the connection, and Firefox switches HTTP/3 off. Take a certificate of a public authority.",
      RESTS,
    ];
  if (quic === false)
    return [
      "No browser can follow an offer, as no QUIC connection comes about. Switch HTTP/3 on, and let UDP through.",
      RESTS,
    ];
  if (record === true)
    return [
      "A DNS record offers HTTP/3 before the first response, and no header takes that back.",
      "On Cloudflare it is there while HTTP/3 and Universal SSL are on and the host is proxied. With a certificate of your own Universal " +
        "SSL can be off. Otherwise have HTTP/3 on only if it is to be offered to all.",
    ];
  if (ways[current].works === null)
    return ["Nothing was found that speaks against it. What is unknown above is still to be looked at."];
  if (ways[other].works === true)
    return [
      other === "marker"
        ? 'Set ACTUATOR = "marker": a rule of the zone already makes Alt-Svc of it.'
        : 'Set ACTUATOR = "header": the worker\'s own Alt-Svc arrives.',
    ];
  if (markerArrives)
    return [
      `No rule of the zone makes Alt-Svc of the marker. ${current === "header" ? 'Set ACTUATOR = "marker", deploy, and put' : "Put"} the rules in force that ` +
        `\`npm run policy -- marker-rule --host ${host} --out FILE\` writes, beside the rules that are there ("Answer by a marker" in docs/deploy-reference.md).`,
      "Then look again. They also take away what others offer, if the zone applies them after that.",
    ];
  if (othersOffer)
    return [
      "Responses that pass no worker offer HTTP/3, after the rules of the zone: what pages say does not matter then.",
      "HTTP/3 can only be on for all visitors of this zone, or off.",
    ];
  return [
    "Neither way works: what the worker says is changed on its way, after the rules of the zone.",
    "HTTP/3 can only be on for all visitors of this zone, or off.",
  ];
}
