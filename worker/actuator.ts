import { MARKER_HEADER } from "../policy-api/core/alt-svc.ts";

/**
 * How answers reach browsers. `header`: in Alt-Svc. `marker`: in a header that browsers do not know, which a rule of the zone makes
 * Alt-Svc of. That rule also takes Alt-Svc away where there is no such header, as on images that pass no worker.
 */
export const ACTUATORS = ["header", "marker"] as const;
export type Actuator = (typeof ACTUATORS)[number];

/** The header in which a response has the answer. */
export const ANSWER_HEADERS = { header: "alt-svc", marker: MARKER_HEADER } as const satisfies Record<Actuator, string>;
