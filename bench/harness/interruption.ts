/** Turns Ctrl-C and SIGTERM into a signal that work can be ended by, in order. Under npm a Ctrl-C comes twice. */
export function onInterruption(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  process.on("SIGINT", abort).on("SIGTERM", abort).on("SIGHUP", abort);
  return {
    signal: controller.signal,
    release: () => {
      process.off("SIGINT", abort).off("SIGTERM", abort).off("SIGHUP", abort);
    },
  };
}
