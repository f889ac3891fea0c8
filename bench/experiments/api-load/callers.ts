import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { API, type CallerName, CALLERS, type CallersPlan, type CallSample } from "./mix.ts";

// Calls at steady rates, as PLAN says, until it is asked to end (SIGTERM); prints `ready`, and at its end a line of
// JSON with every call. A process of its own: the starter's event loop would be in the latencies.

const plan = JSON.parse(process.env["PLAN"] ?? "null") as CallersPlan;
const samples: Partial<Record<CallerName, CallSample[]>> = {};
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());

/** performance.now() counts on where Date.now() would jump. */
const nowMs = (): number => performance.timeOrigin + performance.now();

async function callAtRate(caller: CallerName, index: number): Promise<() => Promise<void>> {
  const { rate, statuses, call } = CALLERS[caller];
  const own: CallSample[] = (samples[caller] = []);
  // Addresses that no visitor has, each kind's its own in every measurement: wrong tokens are counted by address.
  const localAddress = `127.255.${Object.keys(CALLERS).indexOf(caller)}.1`;
  const session = connect(plan.url, {
    createConnection: ({ hostname, port }) =>
      connectTls({
        socket: connectTcp({ host: hostname, port: Number(port), localAddress }),
        ALPNProtocols: ["h2"],
        rejectUnauthorized: false,
      }),
  });
  await once(session, "connect");
  const pending = new Set<Promise<void>>();
  const one = async (n: number, dueMs: number): Promise<void> => {
    const { method, path, body, headers } = call(n, plan.versions);
    let ok = false;
    try {
      const stream = session.request({
        ":method": method,
        ":path": path,
        ...(path.startsWith(API) && { authorization: `Bearer ${plan.token}` }),
        ...headers,
      });
      stream.end(body);
      const [response] = (await once(stream, "response")) as [Record<string, unknown>];
      stream.resume();
      await once(stream, "end");
      ok = statuses.includes(Number(response[":status"]));
    } catch {
      // Counted as a failure.
    }
    own.push([dueMs, nowMs() - dueMs, ok]);
  };
  return async () => {
    // Not all at the same moment.
    const startMs = nowMs() + (1000 / rate) * (index / plan.callers.length);
    for (let n = 0; !ending.signal.aborted; n++) {
      const dueMs = startMs + (n * 1000) / rate;
      const restMs = dueMs - nowMs();
      if (restMs > 0) await wait(restMs, undefined, { signal: ending.signal }).catch(() => undefined);
      if (ending.signal.aborted) break;
      const asked = one(n, dueMs).finally(() => pending.delete(asked));
      pending.add(asked);
    }
    await Promise.all(pending);
    session.close();
  };
}

const runs = await Promise.all(plan.callers.map(callAtRate));
console.log("ready");
await Promise.all(runs.map((run) => run()));
console.log(JSON.stringify(samples));
