/** Classes of clients by RTT, milliseconds: below the first, between two, and from the last one on. They hold for every version. */
export const RTT_CLASS_MS = [10, 30, 80, 150] as const;

/** The class of an RTT: 0 to RTT_CLASS_MS.length. */
export function rttClassOf(rttMs: number): number {
  return RTT_CLASS_MS.filter((from) => rttMs >= from).length;
}

/** The key of a class's sums. */
export function rttKey(rttClass: number): string {
  return `rtt/${rttClass}`;
}

/** `under 10 ms`, `30 to 80 ms`, `150 ms and more` */
export function rttClassText(rttClass: number): string {
  const [from, to] = [RTT_CLASS_MS[rttClass - 1], RTT_CLASS_MS[rttClass]];
  if (from === undefined) return `under ${to} ms`;
  return to === undefined ? `${from} ms and more` : `${from} to ${to} ms`;
}
