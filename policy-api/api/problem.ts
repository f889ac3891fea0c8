import type { Context } from "hono";
import { type Fault, FAULTS_MAX } from "../decision/parse.ts";

type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 422 | 428 | 429 | 503;

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
  // RFC 9457 section 4.2.1: `about:blank` says no more than the status, and a title would only repeat its name.
  const body = { type: "about:blank", status, detail: message, ...members };
  const always = { "content-type": "application/problem+json", "cache-control": "no-store" };
  return c.body(JSON.stringify(body), status, { ...headers, ...always });
}
