const API = "https://api.cloudflare.com/client/v4";
const TIMEOUT_MS = 10_000;

/** One of the faults that Cloudflare's API names. */
interface ApiFault {
  readonly message: string;
  /** What of the body is wrong, as a JSON pointer. */
  readonly source?: { readonly pointer?: string };
}

/** Why a call of Cloudflare's API has no result. Its message can end a sentence. */
export class ApiError extends Error {
  /** Undefined: there was no answer. */
  readonly status: number | undefined;
  readonly faults: readonly ApiFault[];

  constructor(message: string, status?: number, faults: readonly ApiFault[] = []) {
    super(message);
    this.status = status;
    this.faults = faults;
  }
}

/** Calls Cloudflare's API by a path. A body is PUT; without one it is GET. @throws ApiError */
export type CloudflareApi = <T>(path: string, body?: string) => Promise<T>;

/**
 * Cloudflare's API, by a token.
 *
 * @param base Where the API is, if not at Cloudflare.
 */
export function cloudflareApi(token: string, base = API): CloudflareApi {
  // As a setting may end with a slash.
  const root = base.replace(/\/+$/, "");
  return async <T>(path: string, body?: string): Promise<T> => {
    const reply = await fetch(root + path, {
      method: body === undefined ? "GET" : "PUT",
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new ApiError(`the API cannot be asked: ${(error as Error).message}`);
    });
    // A zone without rules of a phase has no ruleset there.
    if (reply.status === 404 && body === undefined && path.includes("/rulesets/")) return {} as T;
    if (reply.status === 401 || reply.status === 403)
      throw new ApiError(`the token may not ${body === undefined ? "read" : "write"} it`, reply.status);
    if (!reply.ok) {
      const said = (await reply.json().catch(() => ({}))) as { errors?: readonly ApiFault[] } | null;
      throw new ApiError(`the API answers with status ${reply.status}`, reply.status, said?.errors ?? []);
    }
    return ((await reply.json()) as { result: T }).result;
  };
}

/** The id of a host's zone: that of the longest suffix that is one. @throws ApiError */
export async function zoneOf(hostname: string, call: CloudflareApi): Promise<string> {
  const labels = hostname.split(".");
  for (let i = 0; i + 2 <= labels.length; i++) {
    const name = encodeURIComponent(labels.slice(i).join("."));
    const [found] = await call<readonly { id: string }[]>(`/zones?name=${name}`);
    if (found !== undefined) return found.id;
  }
  throw new ApiError(`the token sees no zone of ${hostname}`, 403);
}
