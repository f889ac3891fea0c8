import type { PublishedSeries } from "../../analysis/loads/published-series.ts";

/**
 * A latency benchmark of 2025-10-01: 5 Mbit/s, no loss, 1 MB, means of 50 requests for each of four delays and two protocols.
 */
export const PUBLISHED_SWEEP = {
  source: "a latency benchmark of 2025-10-01, means of 50 requests",
  series: "delay",
  bytes: 1_000_000,
  points: [
    { label: "0", h2Ms: 1_763, h3Ms: 1_859 },
    { label: "50", h2Ms: 2_166, h3Ms: 2_160 },
    { label: "100", h2Ms: 2_592, h3Ms: 2_592 },
    { label: "150", h2Ms: 3_042, h3Ms: 3_015 },
  ],
  findings: [
    "HTTP/2 is 5.4 % faster without delay",
    "the crossover is at about 45 to 50 ms",
    "HTTP/3 is 0.9 % faster at 150 ms",
  ],
} as const satisfies PublishedSeries;
