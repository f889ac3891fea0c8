/** Published figures of one place of a series. Times in milliseconds. */
export interface PublishedPoint {
  /** The series' label of the place. */
  readonly label: string;
  readonly h2Ms: number;
  readonly h3Ms: number;
}

export interface PublishedSeries {
  readonly source: string;
  /** Whose series of the experiment it stands beside. */
  readonly series: string;
  /** Of the file: figures of another size do not stand beside these. */
  readonly bytes: number;
  readonly points: readonly PublishedPoint[];
  readonly findings: readonly string[];
}

/**
 * By experiment. `latency-sweep`: a latency benchmark of 2025-10-01, 5 Mbit/s, no loss, 1 MB, means of 50 requests for each
 * of four delays and two protocols. `bandwidth-limits`: Go 1.21, quic-go 0.40.1, tc on a router, 10 MB, means of one to three tries.
 */
export const PUBLISHED_SERIES: Readonly<Record<string, PublishedSeries>> = {
  "bandwidth-limits": {
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
  },
  "latency-sweep": {
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
  },
};

/** What was published of a series, where its cells have files as large as that. */
export function publishedBeside(
  experiment: string,
  cells: readonly { readonly series: string; readonly bytes: number }[],
): PublishedSeries | undefined {
  const published = PUBLISHED_SERIES[experiment];
  const own = cells.filter(({ series }) => series === published?.series);
  return own.every(({ bytes }) => bytes === published?.bytes) ? published : undefined;
}
