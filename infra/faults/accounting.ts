/** What the load generator prints of one request (infra/faults/peer). Times are Unix milliseconds. */
export interface RequestRecord {
  readonly protocol: string;
  /** get, head, post, page (a navigation) or lie (the origin breaks off its answer). */
  readonly kind: string;
  readonly path: string;
  readonly began: number;
  readonly ended: number;
  /** When its connection was made. */
  readonly connected: number;
  /** When the origin began to answer. 0 if it did not. */
  readonly answered: number;
  /** own: a 502, 503 or 504 of this system. refused: no connection was to be had. */
  readonly outcome: "right" | "own" | "aborted" | "refused" | "wrong";
  readonly what?: string;
  /** 0 if no response began. */
  readonly status: number;
  /** The time of the answer without the time that the origin took. */
  readonly beyondMs: number;
  readonly decided: boolean;
  readonly attempts: number;
}

/** The end of a program, or of the edge's UDP socket with all QUIC connections, and when its successor took requests. */
export interface Ending {
  readonly program: "workerd" | "edge" | "udp";
  readonly ms: number;
  backMs?: number;
}

/** A span in which the origin refuses all connections. */
export interface OriginDeath {
  readonly ms: number;
  backMs?: number;
}

/** A fault as it was injected. Requests before the first one belong to a phase without a fault. */
export interface Phase {
  readonly name: string;
  readonly injectedMs: number;
  healedMs?: number;
}

/** All that happened and that may excuse an answer that is not right. */
export interface Events {
  readonly endings: readonly Ending[];
  readonly deaths: readonly OriginDeath[];
}

/** The runner hears of the end of a program a little late, and another process writes the times of requests. */
const SLACK_MS = 500;

/** Says why a request need not have had the right answer. Undefined: it had to. */
export function excuse(record: RequestRecord, { endings, deaths }: Events): string | undefined {
  const inFlight = (ms: number, backMs: number = ms): boolean =>
    record.began <= backMs + SLACK_MS && record.ended >= ms - SLACK_MS;
  const ended = (program: Ending["program"], also: (ending: Ending) => boolean): boolean =>
    endings.some((ending) => ending.program === program && also(ending));
  switch (record.outcome) {
    case "right":
    case "wrong":
      return undefined;
    case "refused":
      return ended("edge", ({ ms, backMs }) => inFlight(ms, backMs ?? Infinity)) ? "the edge was gone" : undefined;
    case "aborted":
      // A client learns late that its QUIC connection is gone: all requests on a connection to an edge that ended may break.
      if (ended("edge", ({ ms, backMs }) => record.connected <= (backMs ?? Infinity) && record.ended >= ms - SLACK_MS))
        return "its edge ended";
      if (record.protocol === "h3" && ended("udp", ({ ms }) => record.connected <= ms + SLACK_MS && record.ended >= ms))
        return "its QUIC connection ended with the UDP socket";
      // The edge may have the header, and not have sent it on, when workerd ends. So what counts is that the origin had begun.
      if (record.answered !== 0 && ended("workerd", ({ ms }) => inFlight(ms) && record.answered <= ms + SLACK_MS))
        return "the response had begun when workerd ended";
      if (record.status !== 0 && deaths.some(({ ms }) => inFlight(ms))) return "the origin broke it off";
      return undefined;
    case "own":
      if (record.kind === "lie") return "the origin lied";
      if (deaths.some(({ ms, backMs }) => inFlight(ms, backMs ?? Infinity))) return "the origin was dead";
      return undefined;
  }
}

/** The counts of one fault. */
export interface Count {
  readonly name: string;
  requests: number;
  right: number;
  wrong: number;
  aborted: number;
  refused: number;
  /** 502, 503 and 504 of this system. */
  own: number;
  /** Requests that the client's library sent more than once. */
  repeated: number;
  /** From healing to the end of the first navigation that began after it and has a decision. One for each round. */
  readonly decidingMs: number[];
  /** The times of right answers beyond the origin's. */
  readonly beyondMs: number[];
}

export const NO_FAULT = "(no fault)";
const EXAMPLES = 20;

/** Counts requests by fault, and collects those that should have had the right answer. */
export class Accounting implements Events {
  readonly endings: Ending[] = [];
  readonly deaths: OriginDeath[] = [];
  readonly phases: Phase[] = [];
  readonly counts = new Map<string, Count>();
  /** What was not right. The runner hears of an ending after the requests that it broke, so this is judged at the end. */
  readonly #doubtful: { readonly name: string; readonly record: RequestRecord }[] = [];
  /** Of each kind of violation, how often it came, and an example. */
  readonly violations = new Map<string, { times: number; readonly example: string }>();
  /** How often each excuse was taken. */
  readonly excused = new Map<string, number>();
  /** The times beyond the origin's of right answers to requests that began while the edge knew that workerd was gone. */
  readonly beyondWhileGoneMs: number[] = [];
  readonly #gone: { readonly ms: number; backMs?: number }[] = [];
  #decided = false;
  #inPhase = 0;

  /** Begins a fault. */
  inject(name: string, nowMs: number): void {
    this.phases.push({ name, injectedMs: nowMs });
    this.#decided = false;
    this.#inPhase = 0;
  }

  heal(nowMs: number): void {
    const phase = this.phases.at(-1);
    if (phase !== undefined) phase.healedMs = nowMs;
  }

  /** The edge knows that workerd is gone. */
  workerdGone(nowMs: number): void {
    this.#gone.push({ ms: nowMs });
  }

  /** The edge knows that workerd is back. */
  workerdBack(nowMs: number): void {
    const span = this.#gone.at(-1);
    if (span !== undefined) span.backMs ??= nowMs;
  }

  /** Whether a navigation was decided since the last fault was healed. */
  get decided(): boolean {
    return this.#decided;
  }

  /** How many requests the current fault has had since it was injected for the last time. */
  get inPhase(): number {
    return this.#inPhase;
  }

  add(record: RequestRecord): void {
    const phase = this.phases.findLast(({ injectedMs }) => injectedMs <= record.ended);
    const name = phase?.name ?? NO_FAULT;
    const count = this.#count(name);
    count.requests++;
    if (phase === this.phases.at(-1)) this.#inPhase++;
    if (record.attempts > 1) count.repeated++;
    count[record.outcome]++;
    if (record.outcome === "right") {
      count.beyondMs.push(record.beyondMs);
      const span = this.#gone.findLast(({ ms }) => ms <= record.began);
      if (span !== undefined && record.began < (span.backMs ?? Infinity)) this.beyondWhileGoneMs.push(record.beyondMs);
    } else this.#doubtful.push({ name, record });
    const healedMs = phase?.healedMs;
    if (phase !== this.phases.at(-1) || healedMs === undefined || this.#decided) return;
    if (record.kind !== "page" || !record.decided || record.began < healedMs) return;
    this.#decided = true;
    count.decidingMs.push(record.ended - healedMs);
  }

  /** Notes what must not be. */
  violate(name: string, record: RequestRecord | string): void {
    const text =
      typeof record === "string"
        ? record
        : `${record.outcome === "own" ? `a ${record.status} of ours` : record.outcome}, ${record.kind} over ${record.protocol}: ` +
          (record.what ?? "")
            .trim()
            .replaceAll(/\d{2,}/g, "#")
            .slice(0, 200);
    const key = `${name}: ${text}`;
    const known = this.violations.get(key);
    if (known !== undefined) known.times++;
    else
      this.violations.set(key, {
        times: 1,
        example:
          typeof record === "string"
            ? ""
            : JSON.stringify({ ...record, sinceMs: this.#since(record), endsMs: this.#nextEnd(record) }),
      });
  }

  /** Judges what was not right. To be called once, at the end. */
  settle(): void {
    for (const { name, record } of this.#doubtful) {
      const why = excuse(record, this);
      if (why === undefined) {
        this.violate(name, record);
        continue;
      }
      const key = `${name}: ${record.outcome === "own" ? `a ${record.status} of ours` : record.outcome}, because ${why}`;
      this.excused.set(key, (this.excused.get(key) ?? 0) + 1);
    }
  }

  /** The violations as sentences, the first ones with an example. */
  report(): string[] {
    return [...this.violations].map(
      ([key, { times, example }], i) =>
        `${times} x ${key}${i < EXAMPLES && example !== "" ? `\n    such as ${example}` : ""}`,
    );
  }

  /** How long after the injection a request began. */
  #since(record: RequestRecord): number | undefined {
    const phase = this.phases.findLast(({ injectedMs }) => injectedMs <= record.ended);
    return phase === undefined ? undefined : Math.round(record.began - phase.injectedMs);
  }

  /** How long after the request a program ended, if soon. */
  #nextEnd(record: RequestRecord): number | undefined {
    const after = this.endings.map(({ ms }) => Math.round(ms - record.ended)).filter((ms) => ms >= 0 && ms < 60_000);
    return after.length === 0 ? undefined : Math.min(...after);
  }

  #count(name: string): Count {
    let count = this.counts.get(name);
    if (count === undefined) {
      count = {
        name,
        requests: 0,
        right: 0,
        wrong: 0,
        aborted: 0,
        refused: 0,
        own: 0,
        repeated: 0,
        decidingMs: [],
        beyondMs: [],
      };
      this.counts.set(name, count);
    }
    return count;
  }
}

/** The value below which a share of the values is. Undefined if there are none. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
