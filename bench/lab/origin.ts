import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createDemoOrigin } from "../../infra/workerd/demo-origin.ts";
import { serveBrowserSite } from "./browser-site.ts";

// The origin of every arm, in a process of its own: the demo site's files of any size, a page as small as the
// published one (ohashi-2020: 125 bytes), and pages for a browser. Listens on a Unix socket, for edges without a worker, and on the loopback, for
// workers; prints its URL when it does.
const HTML =
  "<!doctype html>\n<html lang=en><meta charset=utf-8><title>Page</title>\n<body><img src=image alt='The image.'></body>\n</html>\n\n";

const socket = process.argv[2];
const site = createDemoOrigin();
const server = createServer((request, response) => {
  if (request.url?.startsWith("/index.html"))
    response
      .writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        "content-length": Buffer.byteLength(HTML),
        "cache-control": "no-store",
      })
      .end(HTML);
  else if (!serveBrowserSite(request, response)) site.emit("request", request, response);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const onSocket = createServer((request, response) => server.emit("request", request, response)).listen(socket);
await once(onSocket, "listening");
console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
