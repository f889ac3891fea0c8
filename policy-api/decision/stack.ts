import { isAdaptive, type Policy } from "./policy.ts";

/** Who sends over both protocols. */
export interface Stack {
  /** TCP's congestion control, as the kernel names it: bbr. */
  readonly tcp: string;
  /** The QUIC sender: quic-go, quiche-cubic, quiche-bbr2. Null: not known, or HTTP/3 is off. */
  readonly quic: string | null;
}

export type StackMatch =
  | { readonly kind: "same" | "unknown" }
  | {
      readonly kind: "differs";
      readonly parts: readonly (keyof Stack)[];
      /** Of which stack the policy is, and which one serves: the end of a sentence. */
      readonly text: string;
    };

/** The stack that a policy's gains are of. Undefined: it does not say, or decides by no gains. */
export function stackOf(policy: Policy): Stack | undefined {
  const { provenance } = policy;
  if (provenance === undefined || !isAdaptive(policy)) return undefined;
  return { tcp: provenance.congestionControl, quic: provenance.quic ?? null };
}

/**
 * Whether a policy is of the stack that serves. A QUIC sender that one side does not name is not compared: older policies name none. Pure.
 *
 * @param serving Null: not known
 */
export function matchStack(policy: Policy, serving: Stack | null): StackMatch {
  const own = stackOf(policy);
  if (own === undefined || serving === null) return { kind: "unknown" };
  const parts: (keyof Stack)[] = [];
  if (asMeasured(own.tcp) !== asMeasured(serving.tcp)) parts.push("tcp");
  if (own.quic !== null && serving.quic !== null && own.quic !== serving.quic) parts.push("quic");
  if (parts.length === 0) return { kind: "same" };
  return { kind: "differs", parts, text: `was made for ${stackText(own)}, and ${stackText(serving)} serves` };
}

/** `TCP with cubic beside quic-go` */
export function stackText({ tcp, quic }: Stack): string {
  return `TCP with ${tcp}${quic === null ? "" : ` beside ${quic}`}`;
}

/**
 * Nobody has measured a policy for reno. Cubic's is used for it (`npm start` does so too): both halve or nearly halve their window at each loss,
 * and on short paths cubic grows as reno does (RFC 9438, section 4.3).
 */
function asMeasured(tcp: string): string {
  return tcp === "reno" ? "cubic" : tcp;
}
