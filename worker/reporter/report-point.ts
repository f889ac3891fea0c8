import type { PageOutcome } from "../../policy-api/visitors/page-outcome.ts";

/** Analytics Engine has no empty number. */
const MISSING = -1;

/**
 * A page's report as a data point of Workers Analytics Engine: docs/measure-visitors.md names its columns. It says nothing of the
 * client but its autonomous system. The index is the arm, so that sampling, which is by index, leaves the arms alone.
 */
export function reportPoint(outcome: PageOutcome, asn: number | undefined): AnalyticsEngineDataPoint {
  const { arm, advertised, position, transport, place } = outcome;
  const { policyVersion, propensity, rttMs, contentBytes, connectMs, ttfbMs, loadMs, leftMs, lcpMs } = outcome;
  return {
    indexes: [arm],
    blobs: [arm, advertised, position, transport, String(policyVersion), asn === undefined ? "" : String(asn)],
    doubles: [
      propensity,
      loadMs ?? MISSING,
      leftMs ?? MISSING,
      lcpMs ?? MISSING,
      ttfbMs,
      connectMs,
      rttMs ?? MISSING,
      contentBytes,
      outcome.h3Bytes,
      outcome.tcpBytes,
      outcome.rttAfterMs ?? MISSING,
      outcome.rateAfterBps ?? MISSING,
      place?.rtt ?? MISSING,
      place?.size ?? MISSING,
      place?.loss ?? MISSING,
    ],
  };
}
