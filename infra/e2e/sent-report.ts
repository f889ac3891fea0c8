import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { PageReport } from "../../policy-api/visitors/page-report.ts";
import { pageReport } from "../../policy-api/visitors/testing-pages.ts";
import type { Load, TestSystem } from "./harness.ts";

/** What a page that is asked to report takes along. */
export function tokenOf({ headers }: Load): string | undefined {
  return /h3;desc="([^"]+)"/.exec(headers["Server-Timing"]?.join() ?? "")?.[1];
}

/** Reports, over a connection of its own, through a relay's port. Resolves with the status; undefined if no answer came. */
export async function sendReport(
  { stateDir }: Pick<TestSystem, "stateDir">,
  port: number,
  token: string,
  over: Partial<PageReport> = {},
): Promise<number | undefined> {
  const ca = readFileSync(join(stateDir, "dev-cert.pem"));
  const body = JSON.stringify(pageReport({ token, connectMs: 0, ttfbMs: 1, loadMs: 1, atMs: 1, ...over }));
  return new Promise((resolve) => {
    const options = { port, ca, servername: "localhost", agent: false, method: "POST", path: "/_h3/v1/report" };
    request(options, (reply) => resolve(reply.resume().statusCode))
      .on("error", () => resolve(undefined))
      .end(body);
  });
}
