/** Congestion controls of the server's TCP; each edge listens once for each. QUIC's is its server's own. */
export const CONGESTIONS = ["cubic", "bbr", "reno"] as const;
export type Congestion = (typeof CONGESTIONS)[number];
