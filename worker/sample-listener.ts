import type { Labels } from "../policy-api/api/counters/families.ts";
import { type Fault, list, object, parse, type Reader, text } from "../policy-api/decision/parse.ts";
import { type PathSample, pathSampleFields } from "../policy-api/decision/sample.ts";
import { clientAddress } from "./address.ts";
import { answerHeartbeat } from "./heartbeat.ts";
import type { Isolate } from "./isolate.ts";
import { pathObject, type Stores } from "./stores.ts";

/** One sample as our TLS edge posts it. The address is hashed at once and goes no further. */
export interface PostedSample extends PathSample {
  readonly clientAddress: string;
}

const BATCH_MAX = 1_000;
const BODY_MAX_BYTES = 1_000_000;

const readBatch = object<{ samples: readonly unknown[] }>({
  samples: list<unknown>((value) => value, 0, BATCH_MAX),
});

const readAddress: Reader<string> = (value, pointer, faults) => {
  const address = text(64)(value, pointer, faults);
  if (typeof address === "string" && clientAddress(address) === undefined)
    faults.push({ pointer, message: "must be an IPv4 or IPv6 address" });
  return address;
};

export const readPostedSample = object<PostedSample>({ ...pathSampleFields, clientAddress: readAddress });

/**
 * Takes the TLS edge's path samples: `POST /samples` with `{"samples": [...]}`, on a socket that visitors cannot reach.
 * The answer names the faults of samples that cannot be read. The other samples count. The same socket answers the
 * TLS edge's heartbeat, `GET /heartbeat`.
 */
export async function receiveSamples(
  request: Request,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
  isolate: Isolate,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (request.method === "GET" && pathname === "/heartbeat") return answerHeartbeat(request, stores, ctx, isolate);
  if (request.method !== "POST" || pathname !== "/samples")
    return new Response("Only POST /samples and GET /heartbeat are served here.\n", { status: 404 });
  const nowMs = Date.now();
  const refused = (cause: Labels<"batches_refused">["cause"], answer: Response): Response => {
    isolate.counters.add("batches_refused", { cause });
    isolate.flushCounts({ stores, ctx }, "local", nowMs);
    return answer;
  };
  if (Number(request.headers.get("content-length") ?? Number.NaN) > BODY_MAX_BYTES)
    return refused("too-long", new Response(`A batch may have at most ${BODY_MAX_BYTES} bytes.\n`, { status: 413 }));
  let json: unknown;
  try {
    json = await request.json();
  } catch {
    return refused("malformed", faultsOf([{ pointer: "", message: "must be JSON" }]));
  }
  const batch = parse(readBatch, json);
  if (!batch.ok) return refused("malformed", faultsOf(batch.faults));

  const { policyCache } = isolate;
  const ready = policyCache.ready(stores, ctx, nowMs);
  // Samples need the key only, and that does not change.
  if (policyCache.current?.hasher === undefined) await ready;
  const hasher = isolate.namer(policyCache.current);
  if (hasher === undefined)
    return refused("unready", new Response("The policy store does not answer.\n", { status: 503 }));

  const faults: Fault[] = [];
  let accepted = 0;
  for (const [i, item] of batch.value.samples.entries()) {
    const parsed = parse(readPostedSample, item);
    if (!parsed.ok)
      faults.push(...parsed.faults.map((fault) => ({ ...fault, pointer: `/samples/${i}${fault.pointer}` })));
    const address = parsed.ok ? clientAddress(parsed.value.clientAddress) : undefined;
    if (!parsed.ok || address === undefined) continue;
    accepted++;
    const { clientAddress: _, ...sample } = parsed.value;
    const { keys, object: number } = hasher.named(address, isolate.settings.objectsPerRegion);
    // A clock that runs ahead must not keep its samples alive for longer.
    const news = { sample: { ...sample, atMs: Math.min(sample.atMs, nowMs) } };
    ctx.waitUntil(isolate.report(stores, { keys, object: pathObject("local", number) }, news, nowMs));
  }
  isolate.counters.add("samples", { fate: "taken" }, accepted);
  isolate.counters.add("samples", { fate: "faulty" }, batch.value.samples.length - accepted);
  isolate.flushCounts({ stores, ctx }, "local", nowMs);
  return Response.json({ accepted, faults });
}

function faultsOf(faults: readonly Fault[]): Response {
  return Response.json({ accepted: 0, faults }, { status: 400 });
}
