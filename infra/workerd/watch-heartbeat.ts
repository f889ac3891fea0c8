import { request } from "node:http";

const ASK_EVERY_MS = 2_000;
const ANSWER_WITHIN_MS = 5_000;
/** Misses in a row: much longer than a busy machine delays an answer. */
const MISSES = 3;

/**
 * Asks workerd again and again for an answer, and calls `onSilent` after three misses in a row. A process can exist and not
 * answer.
 *
 * @param socketPath The socket of the internal listener.
 */
export function watchHeartbeat(socketPath: string, onSilent: (sentence: string) => void): { stop(): void } {
  let misses = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const ask = async (): Promise<void> => {
    const answer = await askHeartbeat(socketPath);
    if (stopped) return;
    // If there is no process at all, its supervision starts one.
    misses = answer === "silent" ? misses + 1 : 0;
    if (misses === MISSES) {
      misses = 0;
      onSilent(`workerd has not answered for ${(MISSES * ANSWER_WITHIN_MS) / 1000} s: it will be killed.`);
    }
    timer = setTimeout(() => void ask(), ASK_EVERY_MS);
  };
  timer = setTimeout(() => void ask(), ASK_EVERY_MS);
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

async function askHeartbeat(socketPath: string): Promise<"answers" | "silent" | "absent"> {
  const { promise, resolve } = Promise.withResolvers<"answers" | "silent" | "absent">();
  const asked = request({ socketPath, path: "/heartbeat", headers: { host: "localhost" }, agent: false });
  asked.setTimeout(ANSWER_WITHIN_MS, () => {
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
