export const SIZES = { small: 10_000, large: 1_000_000 } as const;
export type Size = keyof typeof SIZES;

export const LOOPS = ["closed", "open"] as const;
export type Loop = (typeof LOOPS)[number];

/** What requests.ts is told. */
export interface LoadPlan {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether every response must have an Alt-Svc, or none. */
  readonly offers: boolean;
  /** What every response must be long. */
  readonly bodyBytes: number;
  /** `closed`: each client asks again when it is answered. `open`: requests are due at a rate, whatever the answers do. */
  readonly loop: Loop;
  /** Connections, each from an address of its own. */
  readonly clients: number;
  /** Requests per second; of an open loop. */
  readonly rate: number;
  /** Before the seconds that count: every client makes its handshake and asks twice. */
  readonly warmSeconds: number;
  readonly seconds: number;
}

/** What requests.ts counted in the seconds that count. */
export interface LoadCounts {
  readonly answers: number;
  /** Other status than 200, other protocol than HTTP/2, another length, an Alt-Svc missing or too many. */
  readonly failures: number;
  readonly latencyMedianMs: number | null;
  readonly latencyP90Ms: number | null;
  readonly latencyP99Ms: number | null;
  /** Of an open loop: by how much requests left after they were due, at most. */
  readonly lateP99Ms: number | null;
  /** Of an open loop: due when every client still waited for an answer. */
  readonly dropped: number;
}
