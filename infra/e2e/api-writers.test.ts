// Only here: fifty writers at once at SQLite on disk.
import { expect, it, onTestFinished } from "vitest";
import { type ApiMethod, type ApiReply, callApi } from "../workerd/policy-client.ts";
import { startWorkerd } from "../workerd/workerd.ts";
import { fixed, testFolder, TOKEN } from "./harness.ts";

const WRITERS = 50;
const ROUNDS = 6;

interface Activation {
  readonly revision: number;
  readonly previousRevision: number | null;
  readonly note: string | null;
}
interface AuditEntry {
  readonly id: number;
  readonly action: string;
  readonly revision: number | null;
  readonly note: string | null;
}
type Call = (method: ApiMethod, resource: string, body?: unknown, ifMatch?: string) => Promise<ApiReply>;

/** Starts workerd with a store on disk that has one version. */
async function startStore(): Promise<Call> {
  const workerd = await startWorkerd({
    stateDir: testFolder(),
    origin: "http://127.0.0.1:9",
    token: TOKEN,
    onErrorLine: () => undefined,
  });
  onTestFinished(() => workerd.stop());
  const call: Call = (method, resource, body, ifMatch) =>
    callApi(
      workerd.visitorsSocket,
      TOKEN,
      method,
      resource,
      body,
      ifMatch === undefined ? {} : { "if-match": ifMatch },
    );
  expect((await call("POST", "policies", { policy: fixed("fixed-h3") })).status).toBe(201);
  return call;
}

/** Each writer wants another state. The note names the writer. */
const wanted = (who: string, share: number): object => ({ everyone: 0, stages: [{ version: 1, share }], note: who });
const writers = Array.from({ length: WRITERS }, (_, i) => i);

it("of fifty writers with the same ETag, one changes the activation, and the others get the current state", async () => {
  const call = await startStore();
  for (let round = 1; round <= ROUNDS; round++) {
    const { headers } = await call("GET", "activation");
    const replies = await Promise.all(
      writers.map((i) =>
        call("PUT", "activation", wanted(`${round}/${i}`, (round * WRITERS + i) / 1_000), headers.etag),
      ),
    );
    const [winner, ...others] = replies.filter(({ status }) => status === 200);
    expect(others).toEqual([]);
    expect(winner?.json).toMatchObject({ revision: round, previousRevision: round - 1 });
    const refused = replies.filter(({ status }) => status === 412);
    expect(refused).toHaveLength(WRITERS - 1);
    for (const { json, headers: told } of refused) {
      expect(json).toMatchObject({ status: 412, current: { revision: round, etag: `"r${round}"` } });
      expect(told.etag).toBe(`"r${round}"`);
    }
    expect((await call("GET", "activation")).json).toEqual(winner?.json);
  }
  const { json: history } = await call("GET", "activation/history?limit=100");
  expect((history as { activations: Activation[] }).activations).toHaveLength(ROUNDS);
  // One entry for each round, and one for the version.
  const { json: audit } = await call("GET", "audit?limit=100");
  expect((audit as { entries: AuditEntry[] }).entries).toHaveLength(ROUNDS + 1);
});

it("fifty writers that repeat until they succeed all succeed, and no change is lost", async () => {
  const call = await startStore();
  let refused = 0;
  const replies = await Promise.all(
    writers.map(async (i) => {
      // A refusal has the current ETag, so the next try needs no other call first.
      for (let etag: string | undefined = '"r0"'; ;) {
        const reply = await call("PUT", "activation", wanted(`writer ${i}`, i / WRITERS), etag);
        if (reply.status !== 412) return reply;
        refused++;
        etag = reply.headers.etag;
      }
    }),
  );
  expect(replies.map(({ status }) => status)).toEqual(writers.map(() => 200));
  expect(refused).toBeGreaterThanOrEqual(WRITERS - 1);

  const acknowledged = replies.map(({ json }) => json as Activation).sort((a, b) => a.revision - b.revision);
  expect(acknowledged.map(({ revision, previousRevision }) => [revision, previousRevision])).toEqual(
    writers.map((i) => [i + 1, i]),
  );
  expect(new Set(acknowledged.map(({ note }) => note))).toEqual(new Set(writers.map((i) => `writer ${i}`)));
  const { json: history } = await call("GET", "activation/history?limit=100");
  expect((history as { activations: Activation[] }).activations.toReversed()).toEqual(acknowledged);
  const { json: audit } = await call("GET", "audit?limit=100");
  const entries = (audit as { entries: AuditEntry[] }).entries.toReversed();
  expect(entries.map(({ id }) => id)).toEqual([...writers, WRITERS].map((i) => i + 1));
  expect(entries.slice(1)).toMatchObject(
    acknowledged.map(({ revision, note }) => ({ action: "activation.put", revision, note })),
  );
});
