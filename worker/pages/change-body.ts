/** Changes a body as it passes. What is given out may be any bytes of what came, with changes, in order. */
export interface BodyChange {
  write(piece: Uint8Array): Uint8Array;
  /** What is left at the end. */
  end(): Uint8Array;
}

/** Headers that vouch for the body as the origin sent it (RFC 9530, RFC 9421). */
const DIGESTS = ["content-digest", "repr-digest", "digest", "content-md5", "signature-input"] as const;

/** Whether a response lets its body be changed. */
export function mayChangeBody({ headers }: Response): boolean {
  return (
    !/(?:^|[\s,])no-transform(?:$|[\s,])/i.test(headers.get("cache-control") ?? "") &&
    DIGESTS.every((name) => !headers.has(name))
  );
}

/** Whether the response is a page, and a whole one: after a 304 a browser would speak of the load before. */
export function isPage({ status, headers }: Pick<Response, "status" | "headers">): boolean {
  return (
    status === 200 &&
    /^text\/html(?:$|[\s;])/i.test(headers.get("content-type") ?? "") &&
    !headers.has("content-disposition")
  );
}

/** The response with a body that changes as it passes. A body that breaks off breaks off for the visitor too. */
export function changeBody(response: Response, change: BodyChange): Response {
  const { body, headers } = response;
  if (body === null) return response;
  const { readable, writable } = new IdentityTransformStream();
  const changed = new Response(readable, response);
  // The body is longer now, and no longer the one that the origin's strong tag names (RFC 9110, section 8.8.1).
  changed.headers.delete("content-length");
  changed.headers.delete("accept-ranges");
  const etag = headers.get("etag");
  if (etag?.startsWith('"') === true) changed.headers.set("etag", `W/${etag}`);
  void pump(body, writable, change);
  return changed;
}

/** Never rejects: what breaks here breaks for the visitor, as it would without. */
async function pump(
  page: ReadableStream<Uint8Array>,
  visitor: WritableStream<Uint8Array>,
  change: BodyChange,
): Promise<void> {
  const reader = page.getReader();
  const writer = visitor.getWriter();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const piece = done ? change.end() : change.write(value);
      if (piece.length > 0) await writer.write(piece);
      if (done) break;
    }
    await writer.close();
  } catch (error) {
    await Promise.allSettled([writer.abort(error), reader.cancel(error)]);
  }
}

export function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
