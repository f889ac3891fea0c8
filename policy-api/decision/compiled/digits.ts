/**
 * Patterns that match the decimal digits of the whole numbers from `from` to before `to`, and no others: regular expressions as
 * PCRE and JavaScript read them, without anchors. Pure.
 *
 * @param from 1 or more.
 * @param to Infinity: without an end.
 */
export function digitsBetween(from: number, to: number): string[] {
  if (to === Infinity) {
    const digits = String(from).length;
    return [...digitsBetween(from, 10 ** digits), `[1-9][0-9]{${digits},}`];
  }
  const patterns: string[] = [];
  // Each turn takes as many numbers as one pattern can have: all that begin like `next` and end in any digits.
  for (let next = from; next < to;) {
    let size = 1;
    while (next % (size * 10) === 0 && next + size * 10 <= to) size *= 10;
    // And the same with the other last digits before those.
    let times = 1;
    const digit = Math.floor(next / size) % 10;
    while (digit + times < 10 && next + (times + 1) * size <= to) times++;
    const head = String(next).slice(0, String(next).length - String(size).length);
    const any = String(size).length - 1;
    patterns.push(
      head + (times === 1 ? String(digit) : `[${digit}-${digit + times - 1}]`) + (any === 0 ? "" : `[0-9]{${any}}`),
    );
    next += times * size;
  }
  return patterns;
}
