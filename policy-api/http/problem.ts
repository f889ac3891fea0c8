import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Fault } from "../core/parse.ts";

/** A refusal, as the API's callers see it: problem details (RFC 9457). Thrown anywhere, rendered in one place. */
export class Problem extends Error {
  readonly status: ContentfulStatusCode;
  readonly title: string;
  readonly faults: readonly Fault[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ContentfulStatusCode,
    title: string,
    detail: string,
    more: { faults?: readonly Fault[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
    this.status = status;
    this.title = title;
    this.faults = more.faults;
    this.headers = more.headers ?? {};
  }
}

export function renderProblem(c: Context, problem: Problem): Response {
  const { status, title, message, faults, headers } = problem;
  // RFC 9457 section 3.1.1: without a page about the type, `about:blank` and the title of the status.
  const body = { type: "about:blank", title, status, detail: message, ...(faults === undefined ? {} : { faults }) };
  return c.body(JSON.stringify(body), status, { ...headers, "content-type": "application/problem+json" });
}
