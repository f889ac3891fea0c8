import { existsSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import { inLab, setNetwork } from "../harness/in-lab.ts";
import { startCrossTraffic } from "../lab/cross-traffic.ts";
import { type Lane, SERVER_ADDRESS } from "../lab/lane.ts";
import { buildNetpath } from "../lab/programs.ts";
import { shell, startServer } from "../lab/shell.ts";
import { QUEUE_BYTES } from "../model/cell.ts";

// A download beside the one that is measured, on real namespaces.

const BYTES = 3_000_000;
const HOME = { rateMbps: 50, delayMs: 15, lossRatio: 0, queueBytes: QUEUE_BYTES };
const PORT = 8_000;
const SERVER = `require("node:http").createServer((_, response) => response.end(Buffer.alloc(${BYTES})))
  .listen(${PORT}, "${SERVER_ADDRESS}", () => console.log("ready"))`;
/** Prints milliseconds. */
const CLIENT = `const from = performance.now();
  fetch("http://${SERVER_ADDRESS}:${PORT}").then((response) => response.arrayBuffer()).then(() => console.log(performance.now() - from))`;

beforeAll(() => buildNetpath(), 600_000);

const node = (namespace: string, script: string) =>
  ["ip", "netns", "exec", namespace, process.execPath, "-e", script] as const;

async function downloadMs({ clientNamespace }: Lane): Promise<number> {
  const [program, ...args] = node(clientNamespace, CLIENT);
  return Number(await shell(program, ...args));
}

const connections = ({ clientNamespace }: Lane): Promise<string> =>
  shell("ip", "netns", "exec", clientNamespace, "ss", "-Htna");

it("slows a download that shares the path, less where flows take turns, and leaves nothing behind", async () => {
  await inLab({ arms: [], lanes: 1 }, new AbortController().signal, async (_, lane) => {
    await using stack = new AsyncDisposableStack();
    await startServer("The server", node(lane.serverNamespace, SERVER), stack);
    const beside = async (queue: { readonly queue?: "fq_codel" }): Promise<number> => {
      await setNetwork(lane, { ...HOME, ...queue }, 1);
      const { pid, ms } = await (async () => {
        await using rival = new AsyncDisposableStack();
        const server = await startCrossTraffic(lane, rival);
        return { pid: server.pid, ms: await downloadMs(lane) };
      })();
      expect(existsSync(`/proc/${pid}`)).toBe(false);
      expect((await lane.path.stats()).bToA.waitingBytes).toBe(0);
      expect((await connections(lane)).split("\n").filter((line) => line !== "" && !line.startsWith("TIME"))).toEqual(
        [],
      );
      return ms;
    };
    await setNetwork(lane, HOME, 1);
    const alone = await downloadMs(lane);
    const [dropTail, fair] = [await beside({}), await beside({ queue: "fq_codel" })];
    const again = await downloadMs(lane);
    expect({ alone, dropTail, fair, again }).toSatisfy(
      (ms: { alone: number; dropTail: number; fair: number; again: number }) =>
        ms.dropTail > 1.3 * ms.alone && ms.fair > 1.3 * ms.alone && ms.fair < ms.dropTail && ms.again < 1.3 * ms.alone,
    );
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
