// What the driver gives to k6 and gets back. Plain types without imports: node and k6 both read this file.

/** The name of a protocol, as in the edge's probe. */
export type Protocol = "h1" | "h2" | "h3";

/** A file of JSON: loads that run one after the other; or one load, which a crowd makes at once, each client for itself. */
export interface Plan {
  /** The network path's control socket; without one its counters are null. */
  readonly control: string | null;
  readonly crowd?: number;
  readonly loads: readonly Load[];
}

export interface Load {
  readonly id: string;
  /** The source address of the client's sockets; "" leaves it to the routing table. */
  readonly clientAddress: string;
  readonly origin: Origin;
  /** The processes whose CPU time together is read around the timed session; none: it is not known. */
  readonly edgePids: readonly number[];
  /** What each session may take, its pauses not counted. */
  readonly timeoutMs: number;
  /**
   * After an Alt-Svc offered HTTP/3: `wait` holds the next requests until the QUIC connection is there; `background`
   * sends them over the old connection until then, as browsers do.
   */
  readonly switch: "wait" | "background";
  /** Subresources under way at a time, and so connections over HTTP/1.1; 6. */
  readonly parallel?: number | undefined;
  /** The bound of a QUIC handshake, after which the alternative counts as broken; 2,000. */
  readonly quicTimeoutMs?: number;
  /** A change of the client's address on the way: QUIC migrates, over TCP a new connection asks for the rest. */
  readonly move?: { readonly afterBytes: number; readonly clientAddress: string } | undefined;
  /** Of the client's QUIC connections, as a program asks for it; quic-go's own choice (7 MiB). */
  readonly udpReceiveBufferBytes?: number | undefined;
  /** Which body bytes `bytes` counts, by when they come, since the epoch: flows side by side are compared over the same seconds. All by default. */
  readonly counted?: { readonly fromMs: number; readonly toMs: number } | undefined;
  /**
   * What the sessions after the first take over from it: `tickets` resumes their TLS sessions, `early-data` sends the first
   * request in 0-RTT besides, over QUIC alone. A timed session that the server does not resume has failed. Nothing by default.
   */
  readonly resume?: "tickets" | "early-data" | undefined;
  /** One client after the other from the same address; exactly one is timed. */
  readonly sessions: readonly Session[];
}

export interface Origin {
  readonly host: string;
  /** Connects there; "" looks the host up. */
  readonly address: string;
  readonly port: number;
  /** PEM of the certificate to trust; "" for the system's roots. */
  readonly caFile: string;
}

export interface Session {
  readonly timed: boolean;
  readonly firstProtocol: Protocol;
  readonly pages: readonly Page[];
  /** After the session's connections are closed. */
  readonly pauseAfterMs: number;
}

export interface Page {
  readonly document: string;
  /** Loaded in parallel once the document is complete. */
  readonly subresources: readonly string[];
  /** Whether the client's connections end with this page, and the next one is a return's, which keeps the Alt-Svc. */
  readonly leavesAfter?: boolean;
  /** Between this page and the next; in no measure. */
  readonly pauseAfterMs?: number;
}

/** One line of output, of the timed session, and how busy the machine was meanwhile. What is not known is null. */
export interface LoadResult {
  readonly id: string;
  readonly clientAddress: string;
  /** Since the epoch. */
  readonly startedMs: number;
  /** 0 if the timed session never came. */
  readonly endedMs: number;
  /** `timeout`: it took longer than timeoutMs. `failed`: anything else that went wrong, in whatever session. */
  readonly outcome: "ok" | "failed" | "timeout";
  readonly error: string;
  /** The sum of the pages, handshakes included; null unless all pages were complete. */
  readonly loadMs: number | null;
  /** The pages that were complete. */
  readonly pageMs: readonly number[];
  /** Of each of them, how many of its subresources came over HTTP/3. */
  readonly filesH3: readonly number[];
  /** Of the first connection: TCP and TLS, or QUIC. */
  readonly handshakeMs: number | null;
  /** Of the first QUIC connection that an Alt-Svc made the client open. */
  readonly switchHandshakeMs: number | null;
  /** From the session's start to the first response's header. */
  readonly ttfbMs: number | null;
  /** Of the first response; "" where none came. */
  readonly documentProtocol: Protocol | "";
  /** Of the response that ended last. */
  readonly lastProtocol: Protocol | "";
  /** Whether a response came over a connection that an Alt-Svc made the client open. */
  readonly switched: boolean;
  /** The last Alt-Svc received, its lines joined by ", ". */
  readonly altSvc: string;
  /** Whether an alternative could not be reached. */
  readonly altSvcBroken: boolean;
  /** Of all bodies, within `counted`. */
  readonly bytes: number;
  readonly connections: readonly Connection[];
  readonly edgeCpuMs: number | null;
  /** Of k6 itself. */
  readonly clientCpuMs: number | null;
  /** The busy share, 0 to 1, of the busiest core, over the timed session and at least 250 ms; k6's driver reads it. */
  readonly busyRatio: number | null;
  /** The share of the packets, over both directions, that left the path late. */
  readonly lateRatio: number | null;
  /** By the emulated loss. */
  readonly droppedLoss: number | null;
  readonly droppedQueue: number | null;
  /** By the emulator's own fault, which no network asked for. */
  readonly droppedFault: number | null;
}

export interface Connection {
  readonly protocol: Protocol;
  readonly handshakeMs: number;
}
