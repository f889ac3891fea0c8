/** What runs until it is stopped. */
export interface Started {
  /** Resolves with a sentence when a program of it has ended that nobody stopped. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts programs that end together, in the reverse order: by `stop`, or where not all of them start.
 *
 * @param start puts the end of each on the stack, and calls `fail` when one has ended by itself
 */
export async function startTogether<System extends object>(
  start: (stack: AsyncDisposableStack, fail: (why: string) => void) => Promise<System>,
): Promise<System & Started> {
  const stack = new AsyncDisposableStack();
  const failure = Promise.withResolvers<string>();
  try {
    const system = await start(stack, failure.resolve);
    return { ...system, failed: failure.promise, stop: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
