/** A header field's name, in lower case, and its value. One character is one byte. */
export type Field = readonly [name: string, value: string];

/** A message of HTTP/1, read as RFC 9112 says and no stricter. */
export interface Message {
  readonly start: string;
  readonly fields: readonly Field[];
  readonly body: Buffer;
  readonly trailers: readonly Field[];
  /** Whether the body's end was there. */
  readonly whole: boolean;
  /** The bytes behind it. */
  readonly rest: Buffer;
}

export const valuesOf = (fields: readonly Field[], name: string): string[] =>
  fields.filter(([one]) => one === name).map(([, value]) => value);

/**
 * Reads the message at the beginning of these bytes. Undefined: its head is not whole.
 *
 * @param ended Whether no more bytes come.
 * @param untilClose Whether a body without a length may last until the end, as a response's may.
 */
export function readMessage(bytes: Buffer, ended: boolean, untilClose: boolean, hasBody = true): Message | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const { start, fields } = readHead(bytes.toString("latin1", 0, end));
  const rest = bytes.subarray(end + 4);
  const [coding = ""] = valuesOf(fields, "transfer-encoding").slice(-1);
  const [length] = valuesOf(fields, "content-length");
  const message = (
    body: Buffer,
    whole: boolean,
    after: Buffer = Buffer.alloc(0),
    trailers: readonly Field[] = [],
  ): Message => ({
    start,
    fields,
    body,
    whole,
    rest: after,
    trailers,
  });
  if (!hasBody) return message(Buffer.alloc(0), true, rest);
  if (/chunked$/i.test(coding)) {
    const { body, trailers, at } = readChunks(rest);
    return at === undefined ? message(body, false) : message(body, true, rest.subarray(at), trailers);
  }
  if (length !== undefined) {
    const whole = rest.length >= Number(length);
    return message(rest.subarray(0, Number(length)), whole, whole ? rest.subarray(Number(length)) : undefined);
  }
  return untilClose ? message(rest, ended) : message(Buffer.alloc(0), true, rest);
}

function readHead(text: string): { start: string; fields: Field[] } {
  const [start = "", ...lines] = text.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  return { start, fields: readFields(lines.join("\r\n")) };
}

/** Reads the fields of these lines. */
export const readFields = (lines: string): Field[] =>
  lines
    .split("\r\n")
    .filter((line) => line.includes(":"))
    .map(readField);

function readField(line: string): Field {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).replaceAll(/^[ \t]+|[ \t]+$/g, "")];
}

/** `at` is where the chunks and their trailers end; undefined where they do not. */
function readChunks(bytes: Buffer): { body: Buffer; trailers: Field[]; at?: number } {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf("\r\n", at);
    const size = line < 0 ? NaN : Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (Number.isNaN(size)) return { body: Buffer.concat(parts), trailers: [] };
    if (size === 0) {
      const end = bytes.indexOf("\r\n\r\n", line);
      if (end < 0) return { body: Buffer.concat(parts), trailers: [] };
      return { body: Buffer.concat(parts), trailers: readFields(bytes.toString("latin1", line, end)), at: end + 4 };
    }
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
