import type { Advice } from "../advise.ts";
import { changeBody, isPage, mayChangeBody } from "../pages/change-body.ts";
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
 * files that browsers then ask for here, or if its Content-Security-Policy does not name the other host.
 *
 * A compressed body is read and compressed anew by the runtime, which sends it in larger pieces than the origin did.
 *
 * @param response One whose headers may be changed.
 */
export function withAssets(response: Response, page: URL, assets: Assets): Response {
  return mayName(response, assets) ? changeBody(response, assetTags(page, assets)) : response;
}

function mayName(response: Response, { origin }: Assets): boolean {
  const { headers } = response;
  const { host } = new URL(origin);
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  const policy = headers.get("content-security-policy");
  return (
    isPage(response) &&
    mayChangeBody(response) &&
    ["identity", "gzip", "br"].includes(encoding) &&
    !/preload/i.test(headers.get("link") ?? "") &&
    (policy === null || policy.toLowerCase().includes(host))
  );
}
