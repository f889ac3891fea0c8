/**
 * Of more calls the rest is not made. Cloudflare lets a request make 10,000 of its own, and 1,000 to Cloudflare's services on the free
 * plan (developers.cloudflare.com/workers/platform/limits, read on 2026-11-25): beyond that, calls fail.
 */
const CALLS_MAX = 9_000;
const AT_ONCE = 50;

/** What calls come to, a few at a time, of those that neither fail nor take longer than all these milliseconds. */
export async function inTime<T>(calls: readonly (() => Promise<T>)[], ms: number): Promise<T[]> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    resolve();
  }, ms);
  const came: T[] = [];
  const next = calls.slice(0, CALLS_MAX).values();
  const callNext = async (): Promise<void> => {
    for (const call of next) {
      if (isLate) return;
      const take = (value: T): void => void (isLate || came.push(value));
      await Promise.race([call().then(take, () => undefined), late]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, callNext));
  clearTimeout(timer);
  return came;
}
