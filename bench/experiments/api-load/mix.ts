import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";

export interface Call {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A kind of caller, who calls while visitors come. */
export interface Caller {
  /** As tables call it. */
  readonly title: string;
  /** Calls per second. */
  readonly rate: number;
  /** How it should be answered; 200 unless given. */
  readonly statuses?: readonly number[];
  readonly call: (n: number, versions: readonly number[]) => Call;
}

export const API = "/_h3/v1";

/** Visitors' addresses that `explain` asks about lie in 127.1.0.0/16: those of the first measurement. */
const KNOWN_CLIENTS = 200;

const CALIBRATED = JSON.parse(readFileSync(join(ROOT, "policy-api/policies/cubic.json"), "utf8")) as object;

const DECIDING = {
  "decide-1": { title: "decisions, 1 path", rate: 200, call: () => decisionsCall(1) },
  "decide-100": { title: "decisions, 100 paths", rate: 5, call: () => decisionsCall(100) },
} satisfies Record<string, Caller>;

/** Those that a person or a script is, not a proxy at each of its requests. */
const OPERATING = {
  explain: {
    title: "explain, by client",
    rate: 20,
    call: (n) =>
      sent("POST", "decisions/explain", {
        client: `127.1.${n % KNOWN_CLIENTS}.1`,
        request: { transport: "tcp", rttMs: 20 },
      }),
  },
  read: {
    title: "list of policies, or one of them",
    rate: 5,
    call: (n, [version = 1]) => ({
      method: "GET",
      path: `${API}/policies${n % 2 === 0 ? "?limit=20" : `/${version}`}`,
    }),
  },
  activate: {
    title: "PUT activation",
    rate: 1,
    // By turns: what is in force already would be no new revision.
    call: (n, versions) => ({
      ...sent("PUT", "activation", { everyone: versions[n % versions.length] }),
      headers: { "if-match": "*" },
    }),
  },
  push: {
    title: "POST policies, 41 kB",
    rate: 1,
    statuses: [200, 201],
    // Of the size that calibration makes, and another each time.
    call: (n) => sent("POST", "policies", { policy: { ...CALIBRATED, source: `${Date.now()}-${n}` } }),
  },
  refused: {
    title: "a wrong token",
    rate: 5,
    // After ten in a minute the address gets no more tries.
    statuses: [401, 429],
    call: () => ({ ...decisionsCall(1), headers: { authorization: "Bearer a-wrong-token" } }),
  },
} satisfies Record<string, Caller>;

export const OPERATORS = Object.keys(OPERATING) as (keyof typeof OPERATING)[];
export const API_CALLERS = [...(Object.keys(DECIDING) as (keyof typeof DECIDING)[]), ...OPERATORS];

const API_RATE = Object.values({ ...DECIDING, ...OPERATING }).reduce((sum, { rate }) => sum + rate, 0);

/** Each kind calls over a connection, and from an address, of its own. */
export const CALLERS: Readonly<Record<CallerName, Caller>> = {
  ...DECIDING,
  ...OPERATING,
  // What the same number of any other requests would cost.
  plain: {
    title: "subresources of 500 bytes",
    rate: API_RATE,
    call: () => ({ method: "GET", path: "/image/500", headers: { "sec-fetch-dest": "image" } }),
  },
};
export type CallerName = keyof typeof DECIDING | keyof typeof OPERATING | "plain";

/** A question about so many paths as a caller that measures loss sends them, each another: known ones, for which times are predicted. */
export function decisionsCall(paths: number): Call & { readonly body: string } {
  const facts = Array.from({ length: paths }, (_, i) => ({
    transport: i % 4 === 3 ? "quic" : "tcp",
    rttMs: 5 + ((i * 37) % 200),
    lossRatio: ((i * 7) % 50) / 1000,
    packets: 5_000,
    deliveryRateBps: 1_000_000 * (1 + (i % 25)),
    path: "/",
  }));
  return sent("POST", "decisions", { paths: facts });
}

function sent(method: "POST" | "PUT", resource: string, body: object): Call & { readonly body: string } {
  return { method, path: `${API}/${resource}`, body: JSON.stringify(body) };
}

/** What callers.ts is told. */
export interface CallersPlan {
  readonly callers: readonly CallerName[];
  /** Of the edge, https://HOST:PORT. */
  readonly url: string;
  /** Versions to activate by turns: the same policy to every visitor. */
  readonly versions: readonly number[];
}

/** When a call was due (milliseconds since the epoch), how long from then to the whole answer, whether it was as it should be. */
export type CallSample = readonly [dueMs: number, latencyMs: number, ok: boolean];
/** What callers.ts prints at its end. */
export type CallSamples = Readonly<Partial<Record<CallerName, readonly CallSample[]>>>;
