import ipaddr from "ipaddr.js";

/** A client and its network. Each has one spelling only. */
export interface ClientAddress {
  /** An IPv4 address, or an IPv6 /64, which is what one household or device gets. */
  readonly client: string;
  /** Its /24 or /48. */
  readonly network: string;
}

/** Reads an address from a header or a sample. Undefined if the text is not an address. */
export function clientAddress(text: string): ClientAddress | undefined {
  // Of the forms of IPv4 only this one (not 0x7f.1): TLS edges write it, and it has one spelling. So it need not be read again, which
  // takes longer than the check.
  if (!text.includes(":"))
    return ipaddr.IPv4.isValidFourPartDecimal(text)
      ? { client: text, network: `${text.slice(0, text.lastIndexOf("."))}.0/24` }
      : undefined;
  if (!/^[0-9a-f.:]+$/i.test(text) || !ipaddr.isValid(text)) return undefined;
  // On a dual-stack socket an IPv4 client has the address ::ffff:192.0.2.1.
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4)
    return { client: address.toString(), network: `${address.octets.slice(0, 3).join(".")}.0/24` };
  const groups = address.parts.map((part) => part.toString(16));
  return { client: `${groups.slice(0, 4).join(":")}::/64`, network: `${groups.slice(0, 3).join(":")}::/48` };
}
