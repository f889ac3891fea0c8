/** How much an object keeps of clients, networks, autonomous systems and the site. */
export interface Extent {
  readonly rows: number;
  /** When the row that was silent for longest was last heard of. Undefined: there is none. */
  readonly oldestAtMs: number | undefined;
  /** Of its database. */
  readonly bytes: number;
}

/** Of several objects together. */
export function extentOf(parts: readonly Extent[]): Extent {
  const oldest = parts.flatMap(({ oldestAtMs }) => oldestAtMs ?? []);
  return {
    rows: parts.reduce((sum, { rows }) => sum + rows, 0),
    oldestAtMs: oldest.length === 0 ? undefined : Math.min(...oldest),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
