import type { PublishedSeries } from "../../analysis/loads/series-cells.ts";

/** Go 1.21, quic-go 0.40.1, tc on a router, 10 MB, means of one to three tries. */
export const PUBLISHED_LIMITS: PublishedSeries = {
  source: "a comparison with Go 1.21, quic-go 0.40.1 and tc on a router, means of one to three tries",
  series: "limits",
  bytes: 10_000_000,
  points: [
    { label: "none", h2Ms: 955, h3Ms: 930 },
    { label: "1 Mbit/s", h2Ms: 87_724, h3Ms: 90_578 },
    // 13.98, 11.266, 11.215 and 9.514, 9.472, 18.576 s.
    { label: "10 Mbit/s, 50 ms", h2Ms: 12_154, h3Ms: 12_521 },
  ],
  findings: [
    "equal without a limit",
    "HTTP/2 is 3 % faster at 1 Mbit/s",
    "with delay HTTP/3 is faster to start but varies, and sometimes times out",
  ],
};
