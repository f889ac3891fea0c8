import { describe, expect, it } from "vitest";
import { BODY_MAX_BYTES, readRest } from "./json-body.ts";

describe("what is left of a body", () => {
  /** A body of so many bytes, that notes how many were asked for, and whether it was let go. */
  function bodyOf(bytes: number): { request: Request; sent: () => number; cancelled: () => boolean } {
    let sent = 0;
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (sent >= bytes) return controller.close();
          const chunk = Math.min(10_000, bytes - sent);
          sent += chunk;
          controller.enqueue(new Uint8Array(chunk));
        },
        cancel() {
          cancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request("https://site.test/", { method: "POST", body });
    return { request, sent: () => sent, cancelled: () => cancelled };
  }

  it.each([
    [0, false],
    [1, false],
    [BODY_MAX_BYTES - 1, false],
    [3 * BODY_MAX_BYTES, true],
  ])("of %i bytes is read, within the bound", async (bytes, isLetGo) => {
    const { request, sent, cancelled } = bodyOf(bytes);
    await readRest(request);
    expect(cancelled()).toBe(isLetGo);
    if (isLetGo) expect(sent()).toBeLessThan(BODY_MAX_BYTES + 20_000);
    else expect(sent()).toBe(bytes);
  });

  it("is nothing where it was read, or where there was none", async () => {
    const { request, sent } = bodyOf(20);
    await request.text();
    await readRest(request);
    expect(sent()).toBe(20);
    await readRest(new Request("https://site.test/"));
  });
});
