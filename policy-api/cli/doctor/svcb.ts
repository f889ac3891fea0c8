/** Reads the alpn of an HTTPS record (RFC 9460, sections 2.2 and 7.1.1). Undefined: it has none, or is no whole record. */
export function alpnOf(rdata: Uint8Array): readonly string[] | undefined {
  const view = new DataView(rdata.buffer, rdata.byteOffset, rdata.byteLength);
  let at = 2;
  for (; at < rdata.length && rdata[at] !== 0; at += 1 + (rdata[at] ?? 0));
  at += 1;
  while (at + 4 <= rdata.length) {
    const [key, length] = [view.getUint16(at), view.getUint16(at + 2)];
    const value = rdata.subarray(at + 4, at + 4 + length);
    if (value.length < length) return undefined;
    if (key === ALPN) return textsOf(value);
    at += 4 + length;
  }
  return undefined;
}

/** SvcParamKey of alpn: section 14.3.2. */
const ALPN = 1;

/** Texts that each begin with their length. */
function textsOf(value: Uint8Array): readonly string[] | undefined {
  const texts: string[] = [];
  for (let at = 0; at < value.length;) {
    const length = value[at] ?? 0;
    const text = value.subarray(at + 1, at + 1 + length);
    if (length === 0 || text.length < length) return undefined;
    texts.push(String.fromCharCode(...text));
    at += 1 + length;
  }
  return texts;
}
