import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

// Does for an edge function what a CDN does, as far as a test needs it: takes requests on PORT and gives them to the handler
// of docs/examples/javascript/edge-function.js.

type Handler = (request: Request) => Promise<Response>;

const { ORIGIN = "", H3_API = "", H3_TOKEN = "", PORT = "" } = process.env;
const file = "../../docs/examples/javascript/edge-function.js";
const { createHandler } = (await import(file)) as {
  createHandler: (options: { origin: string; api: string; token: string }) => Handler;
};
const handle = createHandler({ origin: ORIGIN, api: H3_API, token: H3_TOKEN });

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { connection: _, ...sent } = incoming.headers;
  const headers = Object.entries(sent).flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one]));
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    ...(incoming.method === undefined ? {} : { method: incoming.method }),
    headers: headers as [string, string][],
  });
  const response = await handle(request);
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

createServer((incoming, outgoing) => void serve(incoming, outgoing)).listen(Number(PORT), "127.0.0.1");
