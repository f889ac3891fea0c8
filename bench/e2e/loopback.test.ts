import { connect } from "node:http2";
import { beforeAll, expect, it } from "vitest";
import { findProgram } from "../../base/find-program.ts";
import { buildLoopback, LOOPBACK_ARMS, type LoopbackArm, startLoopbackSystem } from "../lab/loopback-system.ts";
import { processesWith } from "./runs.ts";

// The servers of `overhead`, as they run there.

/** Caddy where it is installed: no other test needs it. */
const ARMS = (Object.keys(LOOPBACK_ARMS) as LoopbackArm[]).filter(
  (arm) => arm !== "caddy" || findProgram("caddy") !== undefined,
);

beforeAll(() => buildLoopback(), 1_800_000);

/** Asks over HTTP/2, as a page or as an image. */
async function asked(url: string, secFetchDest: string) {
  const session = connect(url, { rejectUnauthorized: false });
  try {
    const stream = session.request({ ":path": "/image/10000", "sec-fetch-dest": secFetchDest });
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    stream.once("response", resolve).once("error", reject);
    session.once("error", reject);
    const headers = await promise;
    let bytes = 0;
    for await (const chunk of stream) bytes += (chunk as Buffer).length;
    return { status: headers[":status"], altSvc: headers["alt-svc"], bytes };
  } finally {
    session.destroy();
  }
}

it("overhead's servers all answer over HTTP/2, offer on pages where they decide, and end", async () => {
  const system = await startLoopbackSystem(ARMS);
  const fronts: number[] = [];
  try {
    for (const [arm, { url, frontPids }] of system.arms) {
      fronts.push(...frontPids());
      const { offers, secFetchDest } = LOOPBACK_ARMS[arm];
      const altSvc = offers ? (expect.stringMatching(/^h3=":\d+"; ma=\d+$/) as string) : undefined;
      expect([arm, await asked(url, secFetchDest)]).toEqual([arm, { status: 200, altSvc, bytes: 10_000 }]);
      expect([arm, await asked(url, "image")]).toMatchObject([arm, { status: 200, altSvc: undefined }]);
    }
  } finally {
    await system.stop();
  }
  expect(fronts.length).toBeGreaterThan(ARMS.length);
  expect(processesWith(`h3bench-${process.pid}-`)).toEqual([]);
}, 120_000);
