/**
 * The flags of an edge whose clients all have one address, as a crowd here has. They raise the edge's bounds on what one client
 * may hold. They also keep every handshake the same: above its bound the edge would ask for a further round trip.
 */
export const CROWD_FLAGS: readonly string[] = [
  ["-max-requests", "100000"],
  ...["max-requests-client", "max-handshakes", "retry-above"].map((bound) => ["-config", `${bound}=100000`]),
].flat();
