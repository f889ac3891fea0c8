// For njs in the overhead experiment: an Alt-Svc for each page, by the RTT of its connection. A policy
// compiles to such intervals. Each of them offers here, so that every response shows that a decision was made: on the loopback no
// RTT would earn an offer.

/** Below so many microseconds, in order, and what is offered there. */
const INTERVALS = [
  { belowUs: 500, altSvc: 'h3=":443"; ma=60' },
  { belowUs: 2000, altSvc: 'h3=":443"; ma=300' },
  { belowUs: 10000, altSvc: 'h3=":443"; ma=3600' },
  { belowUs: 50000, altSvc: 'h3=":443"; ma=14400' },
  { belowUs: Infinity, altSvc: 'h3=":443"; ma=86400' },
];

/** Empty: nginx adds no header. */
function altSvc(r) {
  // As the worker: on what pages embed nothing is said.
  if (r.headersIn["Sec-Fetch-Dest"] !== "document") return "";
  // Smoothed, by the kernel; empty where it does not tell.
  const rttUs = Number(r.variables.tcpinfo_rtt);
  if (!(rttUs > 0)) return "";
  return INTERVALS.find((interval) => rttUs < interval.belowUs).altSvc;
}

// oxlint-disable-next-line import/no-default-export -- the only export that njs knows.
export default { altSvc };
