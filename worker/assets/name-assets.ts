import { requiringCorp } from "../../policy-api/decision/embedding.ts";
import type { Advice } from "../advise.ts";
import { changeBody, isPage, mayChangeBody } from "../pages/change-body.ts";
import { couldAllow, readPolicies } from "../pages/csp.ts";
import type { Assets } from "../settings.ts";
import { assetTags } from "./asset-tags.ts";

/**
 * Whether a visitor's files are better fetched over HTTP/2: a policy decided so for this page. Under the kill switch, and where a
 * policy only observes, nobody decides.
 */
export function prefersH2({ decision: { advertise, mode, reason } }: Advice): boolean {
  return advertise.kind !== "h3" && mode !== "observe" && reason !== "kill-switch" && reason !== "not-measured";
}

/**
 * Lets a page name its files at a host without HTTP/3. A page stays as it is if its body must, if its headers already name
 * files that browsers then ask for here, or if it takes files of other hosts only where they allow it (Cross-Origin-Embedder-Policy).
 * A file stays that its Content-Security-Policy does not allow from the other host.
 *
 * A compressed body is read and compressed anew by the runtime, which sends it in larger pieces than the origin did.
 *
 * @param response One whose headers may be changed.
 */
export function withAssets(response: Response, page: URL, assets: Assets): Response {
  const text = response.headers.get("content-security-policy");
  const policies = text === null ? [] : readPolicies(text);
  const there = new URL(assets.origin);
  const could = KINDS.some((kind) => policies.every((policy) => couldAllow(policy, page, kind, there)));
  return could && mayName(response) ? changeBody(response, assetTags(page, assets, policies)) : response;
}

const KINDS = ["image", "script", "style"] as const;

function mayName(response: Response): boolean {
  const { headers } = response;
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  return (
    isPage(response) &&
    mayChangeBody(response) &&
    ["identity", "gzip", "br"].includes(encoding) &&
    !/preload/i.test(headers.get("link") ?? "") &&
    requiringCorp((name) => headers.get(name)) === undefined
  );
}
