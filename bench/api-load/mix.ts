import { pathFacts, policyToPush } from "./subjects.ts";

/** Who calls the API while visitors come: each kind over a connection, and from an address, of its own. */
export const CALLERS = ["decide-1", "decide-100", "explain", "read", "activate", "push", "refused"] as const;
export type Caller = (typeof CALLERS)[number];

export interface Call {
  readonly method: "GET" | "POST" | "PUT";
  /** Under /_h3/v1/. */
  readonly resource: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallerSetup {
  /** As tables call it. */
  readonly title: string;
  /** Calls per second. */
  readonly rate: number;
  /** How it should be answered. */
  readonly statuses: readonly number[];
  readonly call: (n: number, versions: readonly number[]) => Call;
}

/** Visitors' addresses that `explain` asks about lie in 127.1.0.0/16: those of the first measurement. */
const KNOWN_CLIENTS = 200;

export const CALLER_SETUPS: Readonly<Record<Caller, CallerSetup>> = {
  "decide-1": {
    title: "decisions, 1 path",
    rate: 200,
    statuses: [200],
    call: () => ({ method: "POST", resource: "decisions", body: JSON.stringify({ paths: pathFacts(1) }) }),
  },
  "decide-100": {
    title: "decisions, 100 paths",
    rate: 5,
    statuses: [200],
    call: () => ({ method: "POST", resource: "decisions", body: JSON.stringify({ paths: pathFacts(100) }) }),
  },
  explain: {
    title: "explain, by client",
    rate: 20,
    statuses: [200],
    call: (n) => ({
      method: "POST",
      resource: "decisions/explain",
      body: JSON.stringify({
        client: `127.1.${n % KNOWN_CLIENTS}.1`,
        request: { transport: "tcp", rttMs: 20 },
      }),
    }),
  },
  read: {
    title: "list of policies, or one of them",
    rate: 5,
    statuses: [200],
    call: (n, [version = 1]) => ({
      method: "GET",
      resource: n % 2 === 0 ? "policies?limit=20" : `policies/${version}`,
    }),
  },
  activate: {
    title: "PUT activation",
    rate: 1,
    statuses: [200],
    // By turns: what is in force already would be no new revision.
    call: (n, versions) => ({
      method: "PUT",
      resource: "activation",
      body: JSON.stringify({ everyone: versions[n % versions.length] }),
      headers: { "if-match": "*" },
    }),
  },
  push: {
    title: "POST policies, 41 kB",
    rate: 1,
    statuses: [200, 201],
    call: (n) => ({
      method: "POST",
      resource: "policies",
      body: JSON.stringify({ policy: policyToPush(`${Date.now()}-${n}`) }),
    }),
  },
  refused: {
    title: "a wrong token",
    rate: 5,
    // After ten in a minute the address gets no more tries.
    statuses: [401, 429],
    call: () => ({
      method: "POST",
      resource: "decisions",
      body: JSON.stringify({ paths: pathFacts(1) }),
      headers: { authorization: "Bearer a-wrong-token" },
    }),
  },
};

/** What callers.ts is told. */
export interface CallersPlan {
  /** Of the edge, https://HOST:PORT. */
  readonly url: string;
  readonly token: string;
  /** Versions to activate by turns: the same policy to every visitor. */
  readonly versions: readonly number[];
}

/** When a call was due (milliseconds since the epoch), how long from then to the whole answer, whether it was as it should be. */
export type CallSample = readonly [dueMs: number, latencyMs: number, ok: boolean];
/** What callers.ts prints at its end. */
export type CallSamples = Readonly<Record<Caller, readonly CallSample[]>>;
