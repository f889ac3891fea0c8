/** What a response says about HTTP/3 to a browser. */
export type Heard =
  /** It offers HTTP/3 from now on. */
  | "offer"
  /** Every earlier offer is over: by `clear`, or by an Alt-Svc that offers nothing that the browser takes. */
  | "over"
  /** It says nothing, or what the browser does not read: earlier offers stay. */
  | "nothing";

/** Ports below this are the system's. An offer of one of them may not lead to a port above (Chromium). */
const USER_PORTS = 1024;
/** protocol-id "=" alt-authority, with parameters (RFC 7838, section 3). Chromium takes all before `=` for the protocol's name. */
const ALTERNATIVE = /^([^=]+)="([^"\s]*):(\d{1,5})"((?:\s*;\s*[^\s=;,]+=(?:"[^"]*"|[^\s;,"]+))*)$/;

/**
 * Reads the values of Alt-Svc of one response as Chromium does (net/spdy/spdy_alt_svc_wire_format.cc). Several are one list. Where a part of
 * it cannot be read, all of it is left aside; a part with an unknown protocol is left out. What leads to another host is taken
 * for an offer.
 *
 * @param originPort Of the site.
 */
export function heard(values: readonly string[], originPort = 443): Heard {
  const text = values.join(", ").trim();
  if (text === "") return "nothing";
  if (text === "clear") return "over";
  const alternatives = alternativesOf(text).map((part) => ALTERNATIVE.exec(part));
  let offers = false;
  for (const alternative of alternatives) {
    const [, protocol = "", , port = "", parameters = ""] = alternative ?? [];
    const maS = /;\s*ma=([^\s;]+)/.exec(parameters)?.[1];
    if (alternative === null || (maS !== undefined && !/^0*[1-9]\d*$/.test(maS))) return "nothing";
    const isAllowed = Number(port) < USER_PORTS || originPort >= USER_PORTS;
    if (protocol.trim() === "h3" && isAllowed) offers = true;
  }
  return offers ? "offer" : "over";
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
