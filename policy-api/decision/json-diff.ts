/** One difference between two JSON values. */
export interface JsonChange {
  /** JSON pointer (RFC 6901). */
  readonly pointer: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * Where two JSON values differ, in the order of the first. Objects and lists of objects are compared item by item. A
 * list of plain values (an axis, a lattice of times) counts as one value, because its items mean nothing alone.
 */
export function jsonDiff(before: unknown, after: unknown, pointer = ""): readonly JsonChange[] {
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    const [a, b] = [before as Record<string, unknown>, after as Record<string, unknown>];
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name): readonly JsonChange[] => {
      const at = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (!Object.hasOwn(b, name)) return [{ pointer: at, kind: "removed", before: a[name] }];
      if (!Object.hasOwn(a, name)) return [{ pointer: at, kind: "added", after: b[name] }];
      return jsonDiff(a[name], b[name], at);
    });
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ pointer, kind: "changed", before, after }];
}

function isBranch(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) || value.some((item) => typeof item === "object" && item !== null);
}
