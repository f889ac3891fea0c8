import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { TOKEN } from "../../lab/worker.ts";
import { API, type CallerName, CALLERS, type CallersPlan, type CallSample } from "./mix.ts";

// Calls at steady rates, as PLAN says, until it is asked to end (SIGTERM); prints `ready`, and at its end a line of
// JSON with every call. A process of its own: the starter's event loop would be in the latencies.

const plan = JSON.parse(process.env["PLAN"] ?? "null") as CallersPlan;
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());

/** performance.now() counts on where Date.now() would jump. */
const nowMs = (): number => performance.timeOrigin + performance.now();

async function connected(caller: CallerName): Promise<ClientHttp2Session> {
  // Addresses that no visitor has, each kind's its own in every measurement: wrong tokens are counted by address.
  const localAddress = `127.255.${Object.keys(CALLERS).indexOf(caller)}.1`;
  const options = { localAddress, rejectUnauthorized: false };
  const session = connect(plan.url, options);
  await once(session, "connect");
  return session;
}

/** Whether it is answered as it should be. */
async function isAnswered(session: ClientHttp2Session, caller: CallerName, n: number): Promise<boolean> {
  const { statuses = [200], call } = CALLERS[caller];
  const { method, path, body, headers } = call(n, plan.versions);
  try {
    const authorization = path.startsWith(API) ? { authorization: `Bearer ${TOKEN}` } : {};
    const stream = session.request({ ":method": method, ":path": path, ...authorization, ...headers });
    stream.end(body);
    const [response] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.resume();
    await once(stream, "end");
    return statuses.includes(Number(response[":status"]));
  } catch {
    return false;
  }
}

async function callAtRate(session: ClientHttp2Session, index: number): Promise<CallSample[]> {
  const caller = plan.callers[index] ?? "plain";
  const { rate } = CALLERS[caller];
  // Not all at the same moment.
  const startMs = nowMs() + (1000 / rate) * (index / plan.callers.length);
  const calls: Promise<CallSample>[] = [];
  for (;;) {
    const dueMs = startMs + (calls.length * 1000) / rate;
    await wait(Math.max(0, dueMs - nowMs()), undefined, { signal: ending.signal }).catch(() => undefined);
    if (ending.signal.aborted) break;
    calls.push(isAnswered(session, caller, calls.length).then((ok) => [dueMs, nowMs() - dueMs, ok]));
  }
  const samples = await Promise.all(calls);
  session.close();
  return samples;
}

const sessions = await Promise.all(plan.callers.map(connected));
console.log("ready");
const samples = await Promise.all(sessions.map(callAtRate));
console.log(JSON.stringify(Object.fromEntries(plan.callers.map((caller, i) => [caller, samples[i]]))));
