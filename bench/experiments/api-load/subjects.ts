import { activatePolicy } from "../../../infra/workerd/policy-client.ts";
import type { Company, Subject } from "../../harness/loopback/subject.ts";
import { offeringPolicy } from "../../lab/loopback-arms.ts";
import { TOKEN } from "../../lab/worker.ts";
import { LOOPS, SIZES } from "../../model/request-plan.ts";
import { API_CALLERS, CALLERS, type CallerName, decisionsCall, OPERATORS } from "./mix.ts";
import { startCallers } from "./start-callers.ts";

/** Connections of pages, each a visitor. */
export const VISITORS = 200;
/** Of decisions: callers are few, proxies that keep their connections. */
export const PROXIES = 16;

const DECISIONS = {
  group: "decisions",
  beside: "pass",
  loops: LOOPS,
  clients: { closed: PROXIES, open: PROXIES },
} as const;
const PAGES = {
  group: "visitors",
  beside: "pages",
  loops: ["open"],
  clients: { closed: VISITORS, open: VISITORS },
  request: fileRequest("document"),
} as const;

/** What is asked of one worker, through its edge: all by the same client in the same way. */
export const SUBJECTS: readonly Subject[] = [
  subject("pass", "a subresource that passes untouched", { ...DECISIONS, request: fileRequest("image") }),
  subject("decide-1", "`POST decisions` of 1 path", { ...DECISIONS, request: decisionsRequest(1) }),
  subject("decide-100", "`POST decisions` of 100 paths", { ...DECISIONS, request: decisionsRequest(100) }),
  // In the closed loop too: it says how fast the open one may be.
  subject("pages", "pages, nobody calls the API", { ...PAGES, loops: LOOPS }),
  subject("pages-under-requests", "pages, beside other requests", { ...PAGES, company: company(["plain"]) }),
  subject("pages-under-operators", "pages, beside operators of the API", { ...PAGES, company: company(OPERATORS) }),
  subject("pages-under-api", "pages, beside operators and decisions", { ...PAGES, company: company(API_CALLERS) }),
];

function subject(name: string, title: string, given: Omit<Subject, "name" | "title" | "columns" | "arm">): Subject {
  return { name, title, columns: { subject: name }, arm: "adaptive", ...given };
}

function fileRequest(destination: "document" | "image"): Subject["request"] {
  return {
    path: `/image/${SIZES.small}`,
    headers: { "Sec-Fetch-Dest": destination },
    body: null,
    offers: destination === "document",
    bodyBytes: SIZES.small,
  };
}

function decisionsRequest(paths: number): Subject["request"] {
  const { path, body } = decisionsCall(paths);
  return { path, headers: { Authorization: `Bearer ${TOKEN}` }, body, offers: false, bodyBytes: null };
}

function company(callers: readonly CallerName[]): Company {
  return {
    members: callers.map((name) => ({ name, title: CALLERS[name].title })),
    start: async ({ url, visitorsSocket }) => {
      // Two versions that offer the same to everybody, for activations that change something and disturb no visitor.
      const versions: number[] = [];
      for (const source of ["one", "the other"])
        versions.push(await activatePolicy(visitorsSocket, TOKEN, { ...offeringPolicy(), source }));
      return startCallers({ callers, url, versions });
    },
  };
}
