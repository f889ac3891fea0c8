import { CF_L4_MAX_LENGTH, type CfL4, parseCfL4 } from "./parse-cf-l4.ts";
import {
  type Fault,
  fitting,
  integer,
  list,
  MAX,
  number,
  object,
  optional,
  parse,
  type Parsed,
  type Read,
  type Reader,
  text,
} from "../decision/parse.ts";

/** A page has few protocols, and few connections to its own site. */
const LIST_MAX = 4;
/** No connection sends more (evidence.ts). */
const PACKETS_MAX = 1e9;
const BYTES_MAX = 1e12;

const readMs = integer(0, MAX.rttMs);

/** Undefined if it is of a form that nobody knows. */
const readL4: Reader<CfL4 | undefined> = (value, pointer, faults) => {
  const read = text(CF_L4_MAX_LENGTH)(value, pointer, faults);
  return typeof read === "string" ? parseCfL4(read) : undefined;
};

/** The files of the page, the document included, that came from the site itself, over one protocol. Bytes are those on the wire. */
const readFiles = object({ protocol: text(16), count: integer(1, 10_000), bytes: number(0, BYTES_MAX) });

/** A reading of a connection that came with a file of the page, and how long before the report. */
const readReading = object({ l4: readL4, agoMs: readMs });

const readPageReport = fitting(
  object({
    /** What the worker gave to the page (worker/reporter/token.ts). Absent: a rule decided for it, which gives none. */
    token: optional(text(100)),
    /** Of the document, an ALPN id (RFC 7301): `h2`, `h3`, `http/1.1`. */
    protocol: text(16),
    /** How long the set-up of the document's connection took, TLS included; 0 if it was open. */
    connectMs: readMs,
    ttfbMs: readMs,
    /** The load event. Absent: the visitor left before. */
    loadMs: optional(readMs),
    /** Largest Contentful Paint, as far as it was known. */
    lcpMs: optional(readMs),
    /** The report. */
    atMs: readMs,
    files: list(readFiles, 0, LIST_MAX),
    /** The last reading of each connection. */
    connections: list(readReading, 0, LIST_MAX),
  }),
  (report, fault) => {
    const { connectMs, ttfbMs, loadMs, lcpMs, atMs, connections } = report;
    if (connectMs > ttfbMs) fault("/connectMs", "must not be above ttfbMs");
    if (ttfbMs > (loadMs ?? atMs)) fault("/ttfbMs", "must not be above loadMs");
    if (Math.max(loadMs ?? 0, lcpMs ?? 0) > atMs) fault("/atMs", "must not be below loadMs and lcpMs");
    for (const [i, { l4, agoMs }] of connections.entries()) {
      if (agoMs > atMs) fault(`/connections/${i}/agoMs`, "must not be above atMs");
      if (l4 !== undefined && !isPossible(l4)) fault(`/connections/${i}/l4`, "says what no connection shows");
    }
  },
);

/** What a page says of its own load. Times are from the beginning of the navigation, milliseconds. Anybody can forge it. */
export type PageReport = Read<typeof readPageReport>;

/** Whether a connection can show these figures: their units may be others than assumed. */
function isPossible({ rttMs = 0, minRttMs = 0, packetsSent = 0, packetsLost = 0, ...rest }: CfL4): boolean {
  return (
    packetsLost <= packetsSent &&
    packetsSent <= PACKETS_MAX &&
    Math.max(rttMs, minRttMs) <= MAX.rttMs &&
    (rest.bytesSent ?? 0) <= BYTES_MAX &&
    (rest.deliveryRateBps ?? 0) <= MAX.deliveryRateBps
  );
}

/** Reads a page's report. Never throws on data. */
export function parsePageReport(input: unknown): Parsed<PageReport> {
  return parse(readPageReport, input);
}

/** Whether the fields of a refused report can be read, and only do not fit together. */
export function isAbsurd(faults: readonly Fault[]): boolean {
  return faults.every(({ relation }) => relation === true);
}
