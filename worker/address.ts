import ipaddr from "ipaddr.js";

/** A client and the network it is in, as text of one spelling for each. */
export interface ClientAddress {
  /** An IPv4 address, or an IPv6 /64: what one household or device holds. */
  readonly client: string;
  /** Its /24 or /48. */
  readonly network: string;
}

/** Reads an address as a header or a sample gives it; undefined when it is none. */
export function clientAddress(text: string): ClientAddress | undefined {
  // ipaddr.js also reads the forms of inet_aton (0x7f.1): no edge writes those.
  if (!/^[0-9a-f.:]+$/i.test(text) || (!text.includes(":") && !ipaddr.IPv4.isValidFourPartDecimal(text)))
    return undefined;
  if (!ipaddr.isValid(text)) return undefined;
  // An IPv4 client of a dual-stack socket comes as ::ffff:192.0.2.1.
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4)
    return { client: address.toString(), network: `${address.octets.slice(0, 3).join(".")}.0/24` };
  const groups = address.parts.map((part) => part.toString(16));
  return { client: `${groups.slice(0, 4).join(":")}::/64`, network: `${groups.slice(0, 3).join(":")}::/48` };
}
