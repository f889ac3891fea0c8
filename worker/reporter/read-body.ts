/**
 * Reads a body of at most so many bytes.
 *
 * @returns its text; undefined if there are more bytes, of which the rest is not read. Rejects if the body breaks off.
 */
export async function readBody({ headers, body }: Request, maxBytes: number): Promise<string | undefined> {
  if (Number(headers.get("content-length") ?? 0) > maxBytes) return undefined;
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
