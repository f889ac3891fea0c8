import type { LoadPlan, Loop } from "../../model/request-plan.ts";
import { API_CALLERS, type Caller, OPERATORS } from "./mix.ts";
import { pathFacts } from "./bodies.ts";

/** What is asked of one worker, through its edge: all by the same client in the same way. */
export const SUBJECTS = [
  "pass",
  "decide-1",
  "decide-100",
  "pages",
  "pages-under-requests",
  "pages-under-operators",
  "pages-under-api",
] as const;
export type Subject = (typeof SUBJECTS)[number];

export interface SubjectSetup {
  /** As tables call it. */
  readonly title: string;
  /** What its ratios are to, in the same round. */
  readonly beside: Subject | null;
  /** What one answer decides. */
  readonly decisions: number;
  /** Who calls in the same seconds. */
  readonly callers: readonly Caller[];
  readonly loops: readonly Loop[];
  /** Connections, each a client, of the open loop. */
  readonly openClients: number;
  readonly request: (token: string) => Pick<LoadPlan, "headers" | "body" | "offers" | "bodyBytes"> & {
    readonly path: string;
  };
}

const PAGE_BYTES = 10_000;
const FILE = `/image/${PAGE_BYTES}`;
const page: SubjectSetup["request"] = () => ({
  path: FILE,
  headers: { "Sec-Fetch-Dest": "document" },
  body: null,
  offers: true,
  bodyBytes: PAGE_BYTES,
});
/** Callers are few: proxies that keep their connections. */
const CALLERS = 16;
const VISITORS = 200;

export const SUBJECT_SETUPS: Readonly<Record<Subject, SubjectSetup>> = {
  pass: {
    title: "a subresource that passes untouched",
    beside: null,
    decisions: 0,
    callers: [],
    loops: ["closed", "open"],
    openClients: CALLERS,
    request: () => ({
      path: FILE,
      headers: { "Sec-Fetch-Dest": "image" },
      body: null,
      offers: false,
      bodyBytes: PAGE_BYTES,
    }),
  },
  "decide-1": {
    title: "`POST decisions` of 1 path",
    beside: "pass",
    decisions: 1,
    callers: [],
    loops: ["closed", "open"],
    openClients: CALLERS,
    request: (token) => decisionsRequest(token, 1),
  },
  "decide-100": {
    title: "`POST decisions` of 100 paths",
    beside: "pass",
    decisions: 100,
    callers: [],
    loops: ["closed", "open"],
    openClients: CALLERS,
    request: (token) => decisionsRequest(token, 100),
  },
  pages: {
    title: "pages, nobody calls the API",
    beside: null,
    decisions: 0,
    callers: [],
    // Closed too: it says how fast the open one may be.
    loops: ["closed", "open"],
    openClients: VISITORS,
    request: page,
  },
  "pages-under-requests": pagesUnder(["plain"], "pages, beside other requests"),
  "pages-under-operators": pagesUnder(OPERATORS, "pages, beside operators of the API"),
  "pages-under-api": pagesUnder(API_CALLERS, "pages, beside operators and decisions"),
};

function pagesUnder(callers: readonly Caller[], title: string): SubjectSetup {
  return { title, beside: "pages", decisions: 0, callers, loops: ["open"], openClients: VISITORS, request: page };
}

function decisionsRequest(token: string, paths: number): ReturnType<SubjectSetup["request"]> {
  return {
    path: "/_h3/v1/decisions",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ paths: pathFacts(paths) }),
    offers: false,
    bodyBytes: null,
  };
}
