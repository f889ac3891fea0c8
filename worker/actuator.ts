import { type Actuator, MARKER_HEADER } from "../policy-api/decision/alt-svc.ts";

/** The header in which a response has the answer. */
export const ANSWER_HEADERS = { header: "alt-svc", marker: MARKER_HEADER } as const satisfies Record<Actuator, string>;
