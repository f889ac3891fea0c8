import type { Precondition } from "../decision/versions.ts";

/** What the number in an ETag is: a version (also of a list, its newest), or a revision of the activation. */
type Numbered = "v" | "r";

/** A strong entity tag (RFC 9110 section 8.8.3). */
export function etagOf(kind: Numbered, number: number): string {
  return `"${kind}${number}"`;
}

/**
 * Reads If-Match (RFC 9110 section 13.1.1). Weak tags, and tags of the other kind, match nothing.
 *
 * @returns undefined without a header.
 */
export function parseIfMatch(header: string | undefined, kind: Numbered): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "*";
  return header.split(",").flatMap((tag) => {
    const [, letter, digits] = /^\s*"([vr])(\d{1,15})"\s*$/.exec(tag) ?? [];
    return letter === kind ? [Number(digits)] : [];
  });
}

/** Whether the caller's copy is current (RFC 9110 section 13.1.2, weak comparison). */
export function isNoneMatchHit(header: string | undefined, etag: string): boolean {
  return (
    header !== undefined &&
    (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
  );
}
