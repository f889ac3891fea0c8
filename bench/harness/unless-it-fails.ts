import { UserError } from "../../base/user-error.ts";

/**
 * Does the work until it is done or a program under it ends by itself. The work is then told to stop, and waited for.
 *
 * @param failed resolves with a sentence when a program ends that nobody stopped
 * @throws UserError with that sentence
 */
export async function unlessItFails<Result>(
  failed: Promise<string>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stopAll = new AbortController();
  const working = work(AbortSignal.any([signal, stopAll.signal]));
  const failure = failed.then((why) => {
    throw new UserError(why);
  });
  try {
    return await Promise.race([working, failure]);
  } finally {
    stopAll.abort();
    await working.catch(() => undefined);
  }
}
