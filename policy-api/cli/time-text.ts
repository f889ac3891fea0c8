const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** A time from the API to the second, UTC. It is "-" for the initial policy and its activation, which nobody made. */
export function timeText(iso: string): string {
  const ms = Date.parse(iso);
  return ms > 0 ? `${new Date(ms).toISOString().slice(0, 19)}Z` : "-";
}

/** How long ago that was, in the largest unit that fits: `3 min ago`. As clocks differ, a time in the future is now. */
export function agoText(iso: string, nowMs: number): string {
  const ms = Date.parse(iso);
  return ms > 0 ? sinceText(nowMs - ms) : "-";
}

/** The same, of a length in milliseconds. */
export function sinceText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit === undefined ? "just now" : `${Math.floor(seconds / unit[1])} ${unit[0]} ago`;
}

/** When that was, as a cell of a table: `2026-11-21T10:00:00Z  3 min ago`. */
export function whenText(iso: string, nowMs: number): string {
  const ago = agoText(iso, nowMs);
  return ago === "-" ? ago : `${timeText(iso)}  ${ago}`;
}

/** Who made something, and when: `by deploy, 3 min ago: more for Japan` */
export function madeText(author: string, iso: string, note: string | null, nowMs: number): string {
  const ago = agoText(iso, nowMs);
  return `by ${author}${ago === "-" ? "" : `, ${ago}`}${note === null ? "" : `: ${note}`}`;
}
