import { pathFacts, policyToPush } from "./bodies.ts";

/** Who calls while visitors come: each kind over a connection, and from an address, of its own. */
export const CALLERS = ["decide-1", "decide-100", "explain", "read", "activate", "push", "refused", "plain"] as const;
export type Caller = (typeof CALLERS)[number];

/** Those that a person or a script is, not a proxy at each of its requests. */
export const OPERATORS = ["explain", "read", "activate", "push", "refused"] as const satisfies readonly Caller[];
export const API_CALLERS = ["decide-1", "decide-100", ...OPERATORS] as const satisfies readonly Caller[];

export interface Call {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
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

const API_SETUPS: Readonly<Record<(typeof API_CALLERS)[number], CallerSetup>> = {
  "decide-1": {
    title: "decisions, 1 path",
    rate: 200,
    statuses: [200],
    call: () => ({ method: "POST", path: "/_h3/v1/decisions", body: JSON.stringify({ paths: pathFacts(1) }) }),
  },
  "decide-100": {
    title: "decisions, 100 paths",
    rate: 5,
    statuses: [200],
    call: () => ({ method: "POST", path: "/_h3/v1/decisions", body: JSON.stringify({ paths: pathFacts(100) }) }),
  },
  explain: {
    title: "explain, by client",
    rate: 20,
    statuses: [200],
    call: (n) => ({
      method: "POST",
      path: "/_h3/v1/decisions/explain",
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
      path: n % 2 === 0 ? "/_h3/v1/policies?limit=20" : `/_h3/v1/policies/${version}`,
    }),
  },
  activate: {
    title: "PUT activation",
    rate: 1,
    statuses: [200],
    // By turns: what is in force already would be no new revision.
    call: (n, versions) => ({
      method: "PUT",
      path: "/_h3/v1/activation",
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
      path: "/_h3/v1/policies",
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
      path: "/_h3/v1/decisions",
      body: JSON.stringify({ paths: pathFacts(1) }),
      headers: { authorization: "Bearer a-wrong-token" },
    }),
  },
};

export const CALLER_SETUPS: Readonly<Record<Caller, CallerSetup>> = {
  ...API_SETUPS,
  // What the same number of any other requests would cost.
  plain: {
    title: "subresources of 500 bytes",
    rate: API_CALLERS.reduce((sum, caller) => sum + API_SETUPS[caller].rate, 0),
    statuses: [200],
    call: () => ({ method: "GET", path: "/image/500", headers: { "sec-fetch-dest": "image" } }),
  },
};

/** What callers.ts is told. */
export interface CallersPlan {
  readonly callers: readonly Caller[];
  /** Of the edge, https://HOST:PORT. */
  readonly url: string;
  readonly token: string;
  /** Versions to activate by turns: the same policy to every visitor. */
  readonly versions: readonly number[];
}

/** When a call was due (milliseconds since the epoch), how long from then to the whole answer, whether it was as it should be. */
export type CallSample = readonly [dueMs: number, latencyMs: number, ok: boolean];
/** What callers.ts prints at its end. */
export type CallSamples = Readonly<Partial<Record<Caller, readonly CallSample[]>>>;
