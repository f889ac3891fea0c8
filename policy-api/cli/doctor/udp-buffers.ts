/** Of an edge's sockets for HTTP/3, as the site's health says them, bytes. */
interface UdpBuffers {
  readonly receiveBytes: number;
  readonly sendBytes: number;
  /** What QUIC wants of each. */
  readonly wantedBytes: number;
}

/** What they mean for visitors. The size to set is that of docs/deploy-server.md. Pure. */
export function meaningOfBuffers({ receiveBytes, sendBytes, wantedBytes }: UdpBuffers): string {
  const small = [
    ...(receiveBytes < wantedBytes ? ["net.core.rmem_max"] : []),
    ...(sendBytes < wantedBytes ? ["net.core.wmem_max"] : []),
  ];
  return small.length === 0
    ? "nothing is to be done"
    : `too small: bursts are lost on the edge's own machine. Set ${small.join(" and ")} to 7500000; see docs/deploy-server.md`;
}
