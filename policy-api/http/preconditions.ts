import type { Precondition } from "../core/versions.ts";

/** What ETags number: a list of versions, a version, a revision of the activation. */
type Numbered = "v" | "r";

/** A strong entity tag (RFC 9110 section 8.8.3). */
export function etagOf(kind: Numbered, number: number): string {
  return `"${kind}${number}"`;
}

/**
 * Reads If-Match (RFC 9110 section 13.1.1). Tags that are not of this kind, or weak, match nothing.
 *
 * @returns undefined without one.
 */
export function parseIfMatch(header: string | undefined, kind: Numbered): Precondition | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === "*") return "*";
  return header.split(",").flatMap((tag) => {
    const [, letter, digits] = /^\s*"([vr])(\d{1,15})"\s*$/.exec(tag) ?? [];
    return letter === kind ? [Number(digits)] : [];
  });
}

/** Whether what the caller has is what there is (RFC 9110 section 13.1.2, weak comparison). */
export function isNoneMatchHit(header: string | undefined, etag: string): boolean {
  return (
    header !== undefined &&
    (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
  );
}
