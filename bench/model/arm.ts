/** Who may serve HTTP/3: our edge's quic-go, or Cloudflare's quiche with one of its congestion controls. */
export const QUICS = ["quic-go", "quiche-cubic", "quiche-bbr2"] as const;
export type Quic = (typeof QUICS)[number];

/** The arms of most experiments. */
export const ARMS = ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"] as const;

/** An origin behind the path: the same content, the same worker, another policy or another first protocol. */
export type Arm =
  | (typeof ARMS)[number]
  | "fixed-h1"
  | "early-h3"
  | "retry-h3"
  | "files-h2"
  | "unrehearsed"
  | "own-start"
  | "published"
  | "bare-h3"
  | "quiche-cubic"
  | "quiche-bbr2";

export interface ArmSetup {
  readonly about: string;
  /** What a session of this arm begins on. */
  readonly firstProtocol: "h1" | "h2" | "h3";
  /** The mode of the worker behind its edge; undefined: there is none. */
  readonly mode?: "fixed-h2" | "fixed-h3" | "adaptive";
  /** Whether its pages' files are at a host of their own, which a browser reaches over HTTP/2 alone: the worker's ASSETS. */
  readonly movesFiles?: boolean;
  /** Of its edge, beside those that every edge has. */
  readonly edgeFlags?: readonly string[];
  /** Its edge has quic-go as it is, which ends slow start by itself. */
  readonly isStock?: true;
  /** Where another server than our edge answers, over HTTP/3 alone. */
  readonly quic?: Exclude<Quic, "quic-go">;
}

const H3 = { firstProtocol: "h3", mode: "fixed-h3" } as const;
/** Ours alone lets a QUIC handshake wait for the page that brings an offer, and rehearses. */
const AS_OTHERS = ["-config", "rehearsal=false"];

export const ARM_SETUPS: Readonly<Record<Arm, ArmSetup>> = {
  "fixed-h1": {
    about: "HTTP/1.1 on six connections, as browsers open them: the worker says nothing",
    firstProtocol: "h1",
    mode: "fixed-h2",
  },
  "fixed-h2": { about: "HTTP/2 only: the worker says nothing", firstProtocol: "h2", mode: "fixed-h2" },
  "fixed-h3": {
    ...H3,
    about: "HTTP/3 from the first packet, as published: the free choice of a client that knows",
  },
  "early-h3": {
    ...H3,
    about:
      "as `fixed-h3`, with an edge that takes requests in 0-RTT (`-config early-data=true`), which ours does not by default",
    edgeFlags: ["-config", "early-data=true"],
  },
  "retry-h3": {
    ...H3,
    about:
      "as `fixed-h3`, with an edge that has every client prove its address by a Retry first (`-config retry=true`)",
    edgeFlags: ["-config", "retry=true"],
  },
  "always-offer": {
    about: "begins on HTTP/2 and is always offered HTTP/3: what CDNs do today",
    firstProtocol: "h2",
    mode: "fixed-h3",
    edgeFlags: AS_OTHERS,
  },
  "own-start": {
    about: "as `always-offer`, with an edge in which quic-go ends slow start by itself",
    firstProtocol: "h2",
    mode: "fixed-h3",
    edgeFlags: AS_OTHERS,
    isStock: true,
  },
  adaptive: {
    about: "begins on HTTP/2 and is offered HTTP/3 where the policy calibrated for this congestion control says so",
    firstProtocol: "h2",
    mode: "adaptive",
  },
  unrehearsed: {
    about:
      "as `adaptive`, with an edge that lets no QUIC handshake wait, and rehearses on no QUIC connection (`-config rehearsal=false`)",
    firstProtocol: "h2",
    mode: "adaptive",
    edgeFlags: AS_OTHERS,
  },
  published: {
    about: "as `adaptive`, by the published line, which begins on HTTP/3 with whom it does not know",
    firstProtocol: "h2",
    mode: "adaptive",
  },
  "files-h2": {
    about:
      "as `fixed-h3`, as after an HTTPS record, and the policy decides against HTTP/3: the page names its files at a host without it (`ASSETS`)",
    firstProtocol: "h3",
    mode: "fixed-h2",
    movesFiles: true,
  },
  "quiche-cubic": quicheArm("cubic", "quiche-cubic"),
  "quiche-bbr2": quicheArm("BBRv2", "quiche-bbr2"),
  bare: { about: "the edge without a worker, over HTTP/2", firstProtocol: "h2", edgeFlags: AS_OTHERS },
  "bare-h3": { about: "the edge without a worker, over HTTP/3 from the first packet", firstProtocol: "h3" },
};

function quicheArm(congestion: string, quic: Exclude<Quic, "quic-go">): ArmSetup {
  const about = `HTTP/3 from the first packet, by a server on Cloudflare's quiche with its ${congestion}, without edge and worker`;
  return { about, firstProtocol: "h3", quic };
}
