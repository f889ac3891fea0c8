/**
 * Names of this machine, as URLs have them. Browsers ask no DNS for them (RFC 6761, section 6.3), no packet to them leaves the machine,
 * and over plain http nobody else can read it.
 */
export const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
