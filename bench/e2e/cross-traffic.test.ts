import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { inLab, setNetwork } from "../harness/in-lab.ts";
import { startCrossTraffic } from "../lab/cross-traffic.ts";
import { type Lane, SERVER_ADDRESS } from "../lab/lane.ts";
import { buildNetpath } from "../lab/programs.ts";
import { shell } from "../lab/shell.ts";
import { QUEUE_BYTES } from "../model/cell.ts";

// A download that shares a path, on real namespaces.

const HOME = { rateMbps: 50, delayMs: 15, lossRatio: 0, queueBytes: QUEUE_BYTES };
/** More than a flow without a rival leaves in the queue. */
const FILLED_BYTES = 200_000;
/** A download fills the queue in a second or two; a busy machine takes longer. */
const PATIENCE_MS = 30_000;

beforeAll(() => buildNetpath(), 600_000);

const connections = ({ clientNamespace }: Lane): Promise<string> =>
  shell("ip", "netns", "exec", clientNamespace, "ss", "-Htna");

/** The most that waits for the bottleneck, until it is this much. */
async function mostWaiting({ path }: Lane, enoughBytes: number, forMs: number): Promise<number> {
  const untilMs = Date.now() + forMs;
  let most = 0;
  while (most < enoughBytes && Date.now() < untilMs) {
    most = Math.max(most, (await path.stats()).bToA.waitingBytes);
    await sleep(20);
  }
  return most;
}

it("fills one queue, is cut short by fq_codel, and leaves nothing behind", async () => {
  await inLab({ arms: [], lanes: 1 }, new AbortController().signal, async (_, lane) => {
    for (const queue of [undefined, "fq_codel"] as const) {
      await setNetwork(lane, { ...HOME, ...(queue && { queue }) }, 1);
      const before = (await lane.path.stats()).bToA;
      const pid = await (async () => {
        await using rival = new AsyncDisposableStack();
        const server = await startCrossTraffic(lane, rival);
        if (queue === undefined)
          expect(await mostWaiting(lane, FILLED_BYTES, PATIENCE_MS)).toBeGreaterThan(FILLED_BYTES);
        else
          await expect
            .poll(async () => (await lane.path.stats()).bToA.droppedQueue, { timeout: PATIENCE_MS })
            .toBeGreaterThan(before.droppedQueue);
        return server.pid;
      })();
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      const after = (await lane.path.stats()).bToA;
      expect(after.waitingBytes).toBe(0);
      expect(after.forwardedPackets).toBeGreaterThan(before.forwardedPackets + 100);
      const left = (await connections(lane)).split("\n").filter((line) => line !== "" && !line.startsWith("TIME"));
      expect(left).toEqual([]);
    }
  });
});

it("says so when it ends by itself", async () => {
  await inLab({ arms: [], lanes: 1 }, new AbortController().signal, async (_, lane) => {
    await using stack = new AsyncDisposableStack();
    await setNetwork(lane, HOME, 1);
    const { failed } = await startCrossTraffic(lane, stack);
    await shell("ip", "netns", "exec", lane.clientNamespace, "ss", "-K", "-t", "dst", SERVER_ADDRESS);
    expect(await failed).toMatch(/download ended: .*\n?.*The download beside a visit ended by itself \(exit code 1\)/s);
  });
});
