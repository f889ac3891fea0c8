import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Problem } from "./problem.ts";

export const BODY_MAX_BYTES = 262_144;
/** Far more than a policy needs (6); what reads a body goes as deep as the body does. */
export const DEPTH_MAX = 16;

const limit = bodyLimit({
  maxSize: BODY_MAX_BYTES,
  onError: () => {
    throw new Problem(413, `a body may have ${BODY_MAX_BYTES} bytes`);
  },
});

/** Reads a body of bounded size and depth as JSON, whatever Content-Type says: curl's -d says it is a form. */
export const jsonBody: readonly MiddlewareHandler[] = [
  limit,
  async (c, next) => {
    // Not text(): workerd would warn in the log of a body that says it is a form.
    const text = new TextDecoder().decode(await c.req.arrayBuffer());
    const headers = new Headers(c.req.raw.headers);
    if (text === "") headers.delete("content-type");
    else {
      if (depthOf(text) > DEPTH_MAX) throw new Problem(400, `a body may be nested ${DEPTH_MAX} levels deep`);
      try {
        JSON.parse(text);
      } catch {
        throw new Problem(400, "the body must be JSON");
      }
      headers.set("content-type", "application/json");
    }
    // The text that was read stays with c.req: of the new request only the header counts.
    c.req.raw = new Request(c.req.raw.url, { method: c.req.raw.method, headers });
    return next();
  },
];

/**
 * Reads what of a body nobody has read, within the bound. workerd closes a connection on which some is left, as it may be
 * after a refusal, and does so under the caller's next request.
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

/** How deep brackets nest, outside of strings. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "[" || char === "{") deepest = Math.max(deepest, ++depth);
    else if (char === "]" || char === "}") depth--;
  }
  return deepest;
}
