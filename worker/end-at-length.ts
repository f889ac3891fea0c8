/**
 * The response with an end where its length says, if its transfer coding is not `chunked`. The runtime takes any other one, such as
 * `identity` of RFC 2616, for a body that ends with its connection, and passes no length on: on a connection that stays open the page
 * would never end. Browsers go by the length.
 */
export function endAtLength(response: Response): Response {
  const coding = response.headers.get("transfer-encoding");
  if (coding === null || /\bchunked$/i.test(coding)) return response;
  // The runtime reads a coded body to us decoded, and the length is of the bytes that it hides.
  if (response.headers.has("content-encoding")) return response;
  const length = response.headers.get("content-length") ?? "";
  if (response.body === null || !/^\d{1,15}$/.test(length)) return response;
  const { readable, writable } = new FixedLengthStream(Number(length));
  void copy(response.body.getReader(), writable.getWriter(), Number(length));
  const own = new Response(readable, response);
  own.headers.delete("transfer-encoding");
  return own;
}

/** Copies so many bytes, and lets the rest go. What breaks on one side breaks on the other. Never rejects. */
async function copy(
  from: ReadableStreamDefaultReader<Uint8Array>,
  to: WritableStreamDefaultWriter<Uint8Array>,
  length: number,
): Promise<void> {
  try {
    for (let left = length; left > 0;) {
      const { done, value } = await from.read();
      if (done) throw new Error("the body ended before its length");
      await to.write(value.subarray(0, left));
      left -= Math.min(left, value.length);
    }
    await to.close();
  } catch (error) {
    await to.abort(error).catch(() => undefined);
  }
  await from.cancel().catch(() => undefined);
}
