import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

export interface Page {
  readonly status: number | undefined;
  readonly altSvc: string | undefined;
}

/** Loads a page over workerd's socket, in the form in which the edge sends it. */
export async function loadPage(socketPath: string): Promise<Page> {
  const call = request({
    socketPath,
    path: "/",
    headers: { host: "site.test", "sec-fetch-dest": "document", "mf-cf-blob": '{"httpProtocol":"HTTP/2"}' },
  });
  call.end();
  const [response] = (await once(call, "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return { status: response.statusCode, altSvc: response.headers["alt-svc"] };
}
