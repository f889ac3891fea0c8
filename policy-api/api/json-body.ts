import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Problem } from "./problem.ts";

export const BODY_MAX_BYTES = 262_144;

const limit = bodyLimit({
  maxSize: BODY_MAX_BYTES,
  onError: () => {
    throw new Problem(413, `a body may have ${BODY_MAX_BYTES} bytes`);
  },
});

/** Reads a body of bounded size as JSON. It ignores Content-Type, as curl's -d calls every body a form. */
export const jsonBody: readonly MiddlewareHandler[] = [
  limit,
  async (c, next) => {
    // Not text(): for a body that is called a form, workerd would write a warning into the log.
    const text = new TextDecoder().decode(await c.req.arrayBuffer());
    const headers = new Headers(c.req.raw.headers);
    if (text === "") headers.delete("content-type");
    else {
      try {
        JSON.parse(text);
      } catch {
        throw new Problem(400, "the body must be JSON");
      }
      headers.set("content-type", "application/json");
    }
    // c.req keeps the text that was read; only the headers of the new request are used.
    c.req.raw = new Request(c.req.raw.url, { method: c.req.raw.method, headers });
    return next();
  },
];

/**
 * Reads the rest of a body, within the bound. After a refusal some of a body may be unread: then workerd closes the
 * connection, while the caller sends its next request.
 */
export async function readRest({ body, bodyUsed }: Request): Promise<void> {
  if (body === null || bodyUsed || body.locked) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  for (let left = BODY_MAX_BYTES; left > 0;) {
    const { done, value } = await reader.read();
    if (done) return;
    left -= value.byteLength;
  }
  await reader.cancel();
}
