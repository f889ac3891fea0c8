// For njs: what adaptive-h3 is asked about this client, and what is made of its answer.

/** The body of the question. The RTT in steps, four to a doubling: all clients of one step share an answer. */
function facts(r) {
  // Smoothed, microseconds, by the kernel; empty where it does not tell.
  const rttUs = Number(r.variables.tcpinfo_rtt);
  if (!(rttUs > 0)) return '{"paths":[{"transport":"tcp"}]}';
  const step = Math.round(4 * Math.log2(Math.max(rttUs, 50) / 1000));
  return JSON.stringify({ paths: [{ transport: "tcp", rttMs: Number((2 ** (step / 4)).toFixed(3)) }] });
}

async function decide(r) {
  try {
    // Pages begin sessions; what they embed would only be told the same.
    if (r.headersIn["Sec-Fetch-Dest"] === "document") {
      const reply = await r.subrequest("/_h3_api", { method: "POST" });
      const altSvc = reply.status === 200 && JSON.parse(reply.responseText).decisions[0].altSvc;
      if (altSvc) r.headersOut["H3-Alt-Svc"] = altSvc;
    }
  } catch (error) {
    r.log(`adaptive-h3 was not asked: ${error.message}`);
  }
  r.return(204);
}

// oxlint-disable-next-line import/no-default-export -- the only export that njs knows.
export default { facts, decide };
