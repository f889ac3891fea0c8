import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type Fault, FAULTS_MAX } from "../decision/parse.ts";

const TITLES = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  422: "Unprocessable Content",
  428: "Precondition Required",
  429: "Too Many Requests",
  503: "Service Unavailable",
} as const satisfies Partial<Record<ContentfulStatusCode, string>>;

type ProblemStatus = keyof typeof TITLES;

/** A refusal, which callers get as problem details (RFC 9457). Any code throws it; renderProblem renders it. */
export class Problem extends Error {
  readonly status: ProblemStatus;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  /** @param members More members of the body (RFC 9457 section 3.2). */
  constructor(
    status: ProblemStatus,
    detail: string,
    members: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.status = status;
    this.members = members;
    this.headers = headers;
  }

  /** For an input with faults: 422 if each value by itself is as documented, else 400. */
  static ofFaults(detail: string, faults: readonly Fault[]): Problem {
    const status = faults.every(({ relation }) => relation === true) ? 422 : 400;
    const shown = faults.slice(0, FAULTS_MAX).map(({ pointer, message }) => ({ pointer, message }));
    const isCut = faults.length >= FAULTS_MAX;
    return new Problem(status, isCut ? `${detail} (at most ${FAULTS_MAX} faults are listed)` : detail, {
      faults: shown,
    });
  }

  /** For an If-Match that does not hold. The body says what there is now. */
  static changed(detail: string, current: object, etag: string): Problem {
    return new Problem(412, detail, { current: { ...current, etag } }, { etag });
  }
}

export function renderProblem(c: Context, { status, message, members, headers }: Problem): Response {
  // RFC 9457 section 3.1.1: without a page about the type, `about:blank` and the title of the status.
  const body = { type: "about:blank", title: TITLES[status], status, detail: message, ...members };
  const always = { "content-type": "application/problem+json", "cache-control": "no-store" };
  return c.body(JSON.stringify(body), status, { ...headers, ...always });
}
