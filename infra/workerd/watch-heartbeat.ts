import { request } from "node:http";

const PACE = { askEveryMs: 2_000, answerWithinMs: 5_000 };
/** Misses in a row: much longer than a busy machine delays an answer. */
const MISSES = 3;

/**
 * Asks workerd again and again for an answer, and calls `onSilent` after three misses in a row. A process can exist and not
 * answer.
 *
 * @param socketPath The socket of the internal listener.
 */
export function watchHeartbeat(
  socketPath: string,
  onSilent: (sentence: string) => void,
  { askEveryMs, answerWithinMs } = PACE,
): { stop(): void } {
  let misses = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const ask = async (): Promise<void> => {
    const answer = await askHeartbeat(socketPath, answerWithinMs);
    if (stopped) return;
    // If there is no process at all, its supervision starts one.
    misses = answer === "silent" ? misses + 1 : 0;
    if (misses === MISSES) {
      misses = 0;
      onSilent(`workerd has not answered for ${(MISSES * answerWithinMs) / 1000} s: it will be killed.`);
    }
    timer = setTimeout(() => void ask(), askEveryMs);
  };
  timer = setTimeout(() => void ask(), askEveryMs);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function askHeartbeat(socketPath: string, answerWithinMs: number): Promise<"answers" | "silent" | "absent"> {
  const { promise, resolve } = Promise.withResolvers<"answers" | "silent" | "absent">();
  const asked = request({ socketPath, path: "/heartbeat", headers: { host: "localhost" }, agent: false });
  asked.setTimeout(answerWithinMs, () => {
    resolve("silent");
    asked.destroy();
  });
  asked.once("error", () => resolve("absent"));
  asked.once("response", (response) => {
    response.resume();
    resolve("answers");
  });
  asked.end();
  return await promise;
}
