/**
 * Published figures that reports stand beside, from Ohashi, Kitaguchi and Yamaoka: HTTP Version Selection Method depending
 * on Network Environment to Reduce Contents Load Time (2020). Stack: Go net/http with CUBIC, quic-go draft-24; 10 MB, 200
 * Mbit/s; means of 400 loads.
 */
export interface PublishedNetwork {
  readonly network: string;
  readonly h2Ms: number;
  readonly h3Ms: number;
  readonly adaptiveMs: number;
  /** Of the adaptive loads that were sent to HTTP/3. */
  readonly h3Share: number;
}

export const OHASHI_NETWORKS: readonly PublishedNetwork[] = [
  { network: "1", h2Ms: 446.74, h3Ms: 535.73, adaptiveMs: 448.23, h3Share: 0 },
  { network: "2", h2Ms: 669.02, h3Ms: 766.43, adaptiveMs: 749.81, h3Share: 0.74 },
  { network: "3", h2Ms: 993.2, h3Ms: 972.62, adaptiveMs: 1056.89, h3Share: 0.658 },
  { network: "4", h2Ms: 636.4, h3Ms: 746.84, adaptiveMs: 649.24, h3Share: 0 },
  { network: "5", h2Ms: 29_700.82, h3Ms: 22_463.81, adaptiveMs: 22_698.84, h3Share: 0.973 },
  { network: "6", h2Ms: 57_416.07, h3Ms: 44_329.03, adaptiveMs: 44_605.8, h3Share: 0.978 },
  { network: "7", h2Ms: 1_640.68, h3Ms: 858.72, adaptiveMs: 1_092.63, h3Share: 0.998 },
  { network: "8", h2Ms: 49_729.07, h3Ms: 33_812.26, adaptiveMs: 34_058.5, h3Share: 0.993 },
  { network: "9", h2Ms: 92_879.67, h3Ms: 66_450, adaptiveMs: 67_105.3, h3Share: 0.98 },
];

/** HTTP/3's performance gain as published: (load_h2 - load_h3) / load_h3. */
export function gain(h2Ms: number, h3Ms: number): number {
  return (h2Ms - h3Ms) / h3Ms;
}

/** What the published method cost against the better of the two, free choice: its mean over the lower mean, less 1. */
export function publishedRegret({ h2Ms, h3Ms, adaptiveMs }: PublishedNetwork): number {
  return adaptiveMs / Math.min(h2Ms, h3Ms) - 1;
}
