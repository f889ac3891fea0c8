// An origin server that asks adaptive-h3 what to advertise. For Node 20: H3_API=https://... H3_TOKEN=... PORT=3000 node origin.js
import { createServer } from "node:http";
import { decisions, rttMsOf } from "./decisions.js";

const altSvcFor = decisions({ api: process.env.H3_API, token: process.env.H3_TOKEN });

/** Wraps a handler of node:http. Pages begin sessions; what they embed would only be told the same. */
function advertising(handler) {
  return async (request, response) => {
    if (request.headers["sec-fetch-dest"] === "document") {
      // Node does not tell the RTT of a connection, and here it would be the proxy's: that has to pass on the visitor's.
      // In nginx: proxy_set_header X-Client-Rtt-Us $tcpinfo_rtt;
      const altSvc = await altSvcFor(rttMsOf(request.headers["x-client-rtt-us"]));
      if (altSvc !== undefined) response.setHeader("alt-svc", altSvc);
    }
    handler(request, response);
  };
}

createServer(
  advertising((request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<p>A page.</p>\n");
  }),
).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
