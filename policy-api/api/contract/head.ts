import type { Scope } from "./access.ts";

type Method = "get" | "post" | "put" | "delete";
type Head<M, P> = [method: M, path: P, operationId: string, summary: string];

/** The head of a route that needs no token. The first part of its path is its tag. */
export function open<const M extends Method, const P extends string>(
  ...[method, path, operationId, summary]: Head<M, P>
) {
  return { operationId, method, path, tags: [path.split("/")[1] ?? ""], summary };
}

/** The head of a route that needs a token. The server enforces the scope; the document says only that a token is needed. */
function needs(scope: Scope) {
  return <const M extends Method, const P extends string>(...head: Head<M, P>) => ({
    ...open(...head),
    scope,
    security: [{ token: [] as string[] }],
  });
}
export const reads = needs("read");
export const writes = needs("write");
