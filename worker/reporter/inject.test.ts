import { describe, expect, it } from "vitest";
import { mayInject, withTag } from "./inject.ts";

const TAG =
  '<script>{let h=0;const l=()=>{if(!h){h=document.createElement("script");h.src="/_h3/v1/reporter.js";document.head.append(h)}};' +
  'addEventListener("load",l);setTimeout(l,3000)}</script>';
const PAGE = "<!doctype html><html><head><title>é</title></head><body>b</body></html>";

/** A response whose body comes in these pieces, each when the reader has taken the one before. */
function inPieces(pieces: readonly (string | Error)[], headers: Record<string, string> = {}): Response {
  const encoder = new TextEncoder();
  let i = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[i++];
      if (piece === undefined) controller.close();
      else if (piece instanceof Error) controller.error(piece);
      else controller.enqueue(encoder.encode(piece));
    },
  });
  return new Response(body, { headers });
}

describe("withTag", () => {
  it("puts the tag at the beginning of the head, and changes nothing else", async () => {
    const text = await withTag(inPieces([PAGE])).text();
    expect(text).toBe(PAGE.replace("<head>", `<head>${TAG}`));
  });

  it.each(["content-security-policy", "content-security-policy-report-only"])(
    "puts in a file where %s would need an exception for a script in the page",
    async (name) => {
      const text = await withTag(inPieces([PAGE], { [name]: "default-src 'self'" })).text();
      expect(text).toBe(PAGE.replace("<head>", '<head><script src="/_h3/v1/reporter.js" async></script>'));
    },
  );

  it("wherever the pieces of the page end", async () => {
    const placeAt = PAGE.indexOf("<head>") + "<head>".length;
    for (let at = 1; at < PAGE.length; at++) {
      const text = await withTag(inPieces([PAGE.slice(0, at), PAGE.slice(at)])).text();
      expect(text.replace(TAG, ""), String(at)).toBe(PAGE);
      expect(text.indexOf(TAG), String(at)).toBe(placeAt);
    }
    const letters = await withTag(inPieces(PAGE.split(""))).text();
    expect(letters).toBe(PAGE.replace("<head>", `<head>${TAG}`));
  });

  it.each([
    ["no page", "hello"],
    ["nothing", ""],
    ["a page that markup leaves open", "<!doctype html><body><select><iframe>x"],
  ])("passes on what has no place for it: %s", async (_name, page) => {
    expect(await withTag(inPieces([page])).text()).toBe(page);
  });

  it("markup that a strict parser gives up on does not end a page", async () => {
    const page = "<!doctype html><head></head><body><select><option><iframe>a</iframe><p>end";
    expect(await withTag(inPieces([page.slice(0, 50), page.slice(50)])).text()).toBe(
      page.replace("<head>", `<head>${TAG}`),
    );
  });

  it("holds nothing back", async () => {
    const { readable, writable } = new IdentityTransformStream();
    const writer = writable.getWriter();
    const reader = (withTag(new Response(readable)).body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    for (const piece of ["<!doctype", " html><html>", "text", "more"]) {
      const written = writer.write(new TextEncoder().encode(piece));
      const { value } = await reader.read();
      expect(decoder.decode(value)).toBe(piece);
      await written;
    }
    void writer.close();
    expect((await reader.read()).done).toBe(true);
  });

  it.each([
    ["at once", [new Error("gone")]],
    ["before the head", ["<!doctype html>", new Error("gone")]],
    ["after it", [PAGE, "more", new Error("gone")]],
  ])("a page that breaks off breaks off here too: %s", async (_name, pieces) => {
    await expect(withTag(inPieces(pieces)).text()).rejects.toThrow("gone");
  });

  it("a visitor who leaves ends the origin's stream", async () => {
    const cancelled = Promise.withResolvers<string>();
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(PAGE)),
      cancel: () => cancelled.resolve("cancelled"),
    });
    const reader = (withTag(new Response(body)).body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    expect(await cancelled.promise).toBe("cancelled");
  });

  it.each([
    ['"a"', 'W/"a"'],
    ['W/"a"', 'W/"a"'],
    [null, null],
  ])("the tag %s of a body that changed is %s", (etag, expected) => {
    const headers = {
      "content-length": "70",
      "accept-ranges": "bytes",
      "x-own": "1",
      ...(etag === null ? {} : { etag }),
    };
    const { headers: changed } = withTag(inPieces([PAGE], headers));
    expect([changed.get("etag"), changed.get("content-length"), changed.get("accept-ranges")]).toEqual([
      expected,
      null,
      null,
    ]);
    expect(changed.get("x-own")).toBe("1");
  });
});

it.each([
  [true, {}],
  [true, { "cache-control": "public, max-age=60" }],
  [true, { "content-security-policy": "default-src 'self'" }],
  [false, { "content-encoding": "gzip" }],
  [false, { "content-encoding": "zstd" }],
  [false, { "cache-control": "max-age=60, no-transform" }],
  [false, { "cache-control": "No-Transform" }],
  [false, { "repr-digest": "sha-256=:abc=:" }],
  [false, { "content-digest": "sha-256=:abc=:" }],
  [false, { "content-security-policy": "script-src 'nonce-a' 'strict-dynamic'" }],
])("%s: a page with %j may be changed", (expected, headers) => {
  expect(mayInject(new Response(PAGE, { headers: headers as Record<string, string> }))).toBe(expected);
});
