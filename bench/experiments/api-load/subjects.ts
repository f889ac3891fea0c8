import { activatePolicy } from "../../../infra/workerd/policy-client.ts";
import type { Company, Subject } from "../../harness/loopback/subject.ts";
import { offeringPolicy, TOKEN } from "../../lab/loopback-arms.ts";
import { LOOPS, SIZES } from "../../model/request-plan.ts";
import { API_CALLERS, CALLERS, type CallerName, decisionsCall, OPERATORS } from "./mix.ts";
import { startCallers } from "./start-callers.ts";

/** Connections of pages, each a visitor. */
export const VISITORS = 200;
/** Of decisions: callers are few, proxies that keep their connections. */
export const PROXIES = 16;

/** What is asked of one worker, through its edge: all by the same client in the same way. */
export const SUBJECTS: readonly Subject[] = [
  deciding("pass", "a subresource that passes untouched", fileRequest("image")),
  deciding("decide-1", "`POST decisions` of 1 path", decisionsRequest(1)),
  deciding("decide-100", "`POST decisions` of 100 paths", decisionsRequest(100)),
  // In the closed loop too: it says how fast the open one may be.
  { ...pages("pages", "pages, nobody calls the API"), loops: LOOPS },
  { ...pages("pages-under-requests", "pages, beside other requests"), company: company(["plain"]) },
  { ...pages("pages-under-operators", "pages, beside operators of the API"), company: company(OPERATORS) },
  { ...pages("pages-under-api", "pages, beside operators and decisions"), company: company(API_CALLERS) },
];

function deciding(name: string, title: string, request: Subject["request"]): Subject {
  const columns = { subject: name };
  return {
    name,
    title,
    group: "decisions",
    beside: "pass",
    columns,
    arm: "adaptive",
    loops: LOOPS,
    openClients: PROXIES,
    request,
  };
}

function pages(name: string, title: string): Subject {
  return {
    name,
    title,
    group: "visitors",
    beside: "pages",
    columns: { subject: name },
    arm: "adaptive",
    loops: ["open"],
    openClients: VISITORS,
    request: fileRequest("document"),
  };
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
      return startCallers({ callers, url, token: TOKEN, versions });
    },
  };
}
