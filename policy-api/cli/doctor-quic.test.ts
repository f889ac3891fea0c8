import { expect, it } from "vitest";
import { tryQuic } from "./doctor-quic.ts";
import { testFolder } from "./testing.ts";

it.each([
  ["https://localhost:8443", "ok", true],
  ["https://127.0.0.1:8443", "down", false],
  ["https://localhost:8443", "unknown", undefined],
  ["https://localhost:8443", undefined, undefined],
  // The way from here to there may drop UDP.
  ["https://a.example", "ok", undefined],
] as const)(
  "without a client of QUIC the edge's word counts on this machine alone: %s, %s",
  async (url, said, works) => {
    const tried = await tryQuic(new URL(url), testFolder(), undefined, async () => Promise.resolve(said));
    expect(tried.works).toBe(works);
    expect(tried.why).toMatch(works === undefined ? /^no client: / : `its HTTP/3 is ${said}`);
  },
);
