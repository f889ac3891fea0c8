// Only here: what the whole system makes of requests that break rules. infra/edge/hostile_test.go has them, and judges each answer.
// `npm run test:hostile` mutates them besides, RUNS times over each protocol.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { holdingOf } from "../faults/machine.ts";
import { probe, startTestSystem } from "./harness.ts";

const RUNS = process.env["HOSTILE_RUNS"];
/** A line of a program that failed: a panic, or a stack trace of Go or JavaScript. */
const FAILURE = /panic|goroutine \d+|\.go:\d+|^\s*at .+:\d+:\d+|uncaught|fatal|assert|stack:|segmentation/i;
/** What a program may hold in memory at the end. */
const MEMORY_MAX_MB = { edge: 256, workerd: 512 };

it(
  "requests that break rules bring no error of ours, no panic, no hang, and no request that nobody sent",
  { timeout: RUNS === undefined ? 240_000 : 7_200_000 },
  async () => {
    const targets: (string | undefined)[] = [];
    const origin = createServer((request, response) => {
      targets.push(request.url);
      request.resume();
      response.end("page");
    });
    await once(origin.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      origin.closeAllConnections();
      origin.close();
    });
    const lines: string[] = [];
    const keep = (line: string): void => void lines.push(line);
    const endings: string[] = [];
    const system = await startTestSystem({
      origin: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
      onWorkerLine: keep,
      onErrorLine: keep,
      onRestart: (sentence) => endings.push(sentence),
    });
    const env = {
      ...process.env,
      HOSTILE_SITE: `127.0.0.1:${system.port}`,
      HOSTILE_CA: join(system.stateDir, "dev-cert.pem"),
    };
    const ways =
      RUNS === undefined
        ? [["-run", "^Fuzz(HTTP1|Fields|HTTP3)$"]]
        : ["HTTP1", "Fields", "HTTP3"].map((one) => [
            "-run",
            "^$",
            "-fuzz",
            `^Fuzz${one}$`,
            "-fuzztime",
            `${RUNS}x`,
            "-fuzzminimizetime",
            "10x",
          ]);
    for (const way of ways)
      await promisify(execFile)("go", ["test", ".", "-count=1", ...way], { cwd: join(ROOT, "infra/edge"), env }).catch(
        (error: unknown) => expect.fail((error as { stdout: string }).stdout),
      );

    expect(targets.length).toBeGreaterThan(100);
    // A mutation may have made a request of it.
    if (RUNS === undefined) expect(targets.filter((target) => target?.endsWith("/within"))).toEqual([]);
    expect(lines.filter((line) => FAILURE.test(line))).toEqual([]);
    expect(endings).toEqual([]);
    expect(holdingOf(system.edgePid()).MB).toBeLessThan(MEMORY_MAX_MB.edge);
    expect(holdingOf(system.workerd.pid()).MB).toBeLessThan(MEMORY_MAX_MB.workerd);
    for (const protocol of ["h1", "h2", "h3"] as const) {
      const [load] = await probe(system, protocol, [`https://localhost:${system.port}/`]);
      expect(load).toMatchObject({ protocol, status: 200 });
    }
  },
);
