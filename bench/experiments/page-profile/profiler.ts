import { once } from "node:events";
import { UserError } from "../../../base/user-error.ts";
import type { Profile } from "./steps.ts";

/** Between two samples, microseconds. */
export const SAMPLE_US = 500;

/** Begins a profile of the worker behind an inspector of workerd. The function that it returns ends it. @throws UserError */
export async function startProfile(port: number): Promise<() => Promise<Profile>> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
  const url = targets[0]?.webSocketDebuggerUrl;
  if (url === undefined) throw new UserError("workerd's inspector names no worker.");
  const socket = new WebSocket(url);
  await once(socket, "open");
  const waiting = new Map<number, (result: unknown) => void>();
  let calls = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  const call = async (method: string, params: object = {}): Promise<unknown> => {
    const id = ++calls;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, resolve);
    socket.addEventListener("close", () =>
      reject(new UserError(`workerd's inspector closed before it answered ${method}.`)),
    );
    socket.send(JSON.stringify({ id, method, params }));
    return promise;
  };
  await call("Profiler.enable");
  await call("Profiler.setSamplingInterval", { interval: SAMPLE_US });
  await call("Profiler.start");
  return async () => {
    const { profile } = (await call("Profiler.stop")) as { profile: Profile };
    socket.close();
    return profile;
  };
}
