/** What a response says about HTTP/3 to a browser. */
export type Heard =
  /** It offers HTTP/3 from now on. */
  | "offer"
  /** Every earlier offer is over: by `clear`, or by an Alt-Svc that offers nothing that the browser takes. */
  | "over"
  /** It says nothing, or what the browser does not read: earlier offers stay. */
  | "nothing";

/** The two browsers whose ways with Alt-Svc are known here, because tests compare them with what the doctor says. */
export const BROWSERS = ["Chromium", "Firefox"] as const;
export type Browser = (typeof BROWSERS)[number];

/**
 * Ports below this are the system's. Chromium follows an offer from one of them to no port above (kUnrestrictedPort in
 * net/http/http_stream_factory_job_controller.cc); Firefox does (infra/e2e/doctor-browsers.test.ts).
 */
const USER_PORTS = 1024;
/** protocol-id "=" alt-authority, with parameters (RFC 7838, section 3). Chromium takes all before `=` for the protocol's name. */
const ALTERNATIVE = /^([^=]+)="([^"\s]*):(\d{1,5})"((?:\s*;\s*[^\s=;,]+=(?:"[^"]*"|[^\s;,"]+))*)$/;

/**
 * Reads the values of Alt-Svc of one response as Chromium does (net/spdy/spdy_alt_svc_wire_format.cc). Several are one list. Where a part of
 * it cannot be read, all of it is left aside; a part with an unknown protocol is left out. What leads to another host is taken
 * for an offer. Firefox is known to differ in two things: in the ports, and in an offer behind `clear`, which it takes.
 *
 * @param originPort Of the site.
 */
export function heard(values: readonly string[], originPort = 443, browser: Browser = "Chromium"): Heard {
  const text = values.join(", ").trim();
  if (text === "") return "nothing";
  if (text === "clear") return "over";
  const behindClear = /^clear\s*,(.*)$/s.exec(text)?.[1];
  if (browser === "Firefox" && behindClear !== undefined)
    return heard([behindClear], originPort, browser) === "offer" ? "offer" : "over";
  const alternatives = alternativesOf(text).map((part) => ALTERNATIVE.exec(part));
  let offers = false;
  for (const alternative of alternatives) {
    const [, protocol = "", , port = "", parameters = ""] = alternative ?? [];
    const maS = /;\s*ma=([^\s;]+)/.exec(parameters)?.[1];
    if (alternative === null || (maS !== undefined && !/^0*[1-9]\d*$/.test(maS))) return "nothing";
    const isAllowed = browser === "Firefox" || !isRefused(Number(port), originPort);
    if (protocol.trim() === "h3" && isAllowed) offers = true;
  }
  return offers ? "offer" : "over";
}

function isRefused(port: number, originPort: number): boolean {
  return port >= USER_PORTS && originPort < USER_PORTS;
}

/** The first port of an offer of HTTP/3 to which Chromium does not go from the site's. Undefined: there is none. */
export function refusedPort(values: readonly string[], originPort: number): number | undefined {
  return alternativesOf(values.join(", "))
    .map((part) => ALTERNATIVE.exec(part))
    .filter((alternative) => alternative?.[1]?.trim() === "h3")
    .map((alternative) => Number(alternative?.[3]))
    .find((port) => isRefused(port, originPort));
}

/** An alternative ends at a comma after its authority. */
function alternativesOf(text: string): string[] {
  return (text.match(/[^"]*"[^"]*"(?:"[^"]*"|[^",])*,?|[^"]+/g) ?? []).map((part) => part.replace(/,$/, "").trim());
}

/** The members of a header that is a list, however many lines it came in. Commas in quotes are no separators. */
function listOf(values: readonly string[]): string[] {
  return (values.join(",").match(/(?:"[^"]*"|[^",])+/g) ?? []).map((part) => part.trim()).filter((part) => part !== "");
}

/** What became of the worker's answer on its way to a browser. */
type Arrived = "as sent" | "dropped" | "replaced" | "appended to" | "made up";

/**
 * Compares what the worker sent with what came. `made up`: it sent nothing, and something came. Pure.
 *
 * @param sent The value that Alt-Svc is to have. Null: none.
 * @param came The values of Alt-Svc.
 */
export function arrived(sent: string | null, came: readonly string[]): Arrived {
  const parts = listOf(came);
  if (parts.length === 0) return sent === null ? "as sent" : "dropped";
  if (sent === null) return "made up";
  if (!parts.includes(sent)) return "replaced";
  return parts.length === 1 ? "as sent" : "appended to";
}
