import { expect, it } from "vitest";
import { endAtLength } from "./end-at-length.ts";

/** A response with a body of these chunks. */
function answer(
  chunks: readonly string[],
  headers: Record<string, string>,
  seen: { cancelled?: boolean } = {},
): Response {
  const left = chunks.map((chunk) => new TextEncoder().encode(chunk));
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel() {
      seen.cancelled = true;
    },
  });
  return new Response(body, { headers });
}

const IDENTITY = { "transfer-encoding": "identity", "content-length": "4", "x-own": "1" };

it.each([[["page", "next"]], [["pa", "ge", "next"]], [["pagenext"]], [["page"]]])(
  "a body of %j ends at its length of 4, and its connection is let go",
  async (chunks) => {
    const seen: { cancelled?: boolean } = {};
    const response = endAtLength(answer([...chunks, "more", "more"], IDENTITY, seen));
    expect(await response.text()).toBe("page");
    expect(Object.fromEntries(response.headers)).toEqual({ "content-length": "4", "x-own": "1" });
    expect(seen.cancelled).toBe(true);
  },
);

it("a body that is shorter than its length breaks for the visitor", async () => {
  await expect(endAtLength(answer(["pa"], IDENTITY)).text()).rejects.toThrow("ended before its length");
});

it("any coding but chunked ends so", async () => {
  for (const coding of ["Identity", "foo", "chunked, gzip"])
    expect(await endAtLength(answer(["page", "next"], { ...IDENTITY, "transfer-encoding": coding })).text()).toBe(
      "page",
    );
});

it.each([
  ["no transfer coding", { "content-length": "4" }],
  ["chunked", { "transfer-encoding": "chunked" }],
  [
    "chunked at last, and a length that does not count",
    { "transfer-encoding": "identity, Chunked", "content-length": "4" },
  ],
  ["no length", { "transfer-encoding": "identity" }],
  ["a coded body, whose length is not that of what is read", { ...IDENTITY, "content-encoding": "gzip" }],
  ["a length that is none", { "transfer-encoding": "identity", "content-length": "4, 5" }],
])("a response with %s is passed on as it is", (_, headers) => {
  const response = answer(["page", "next"], headers);
  expect(endAtLength(response)).toBe(response);
});

it("a response without a body is passed on as it is", () => {
  const response = new Response(null, { status: 304, headers: IDENTITY });
  expect(endAtLength(response)).toBe(response);
});
