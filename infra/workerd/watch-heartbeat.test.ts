import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { watchHeartbeat } from "./watch-heartbeat.ts";

/** In workerd's place: answers each heartbeat as `answers` says, and resolves `asked` after so many. */
async function startServer(answers: (asked: number) => boolean, until: number) {
  const folder = mkdtempSync(join(tmpdir(), "h3-test-"));
  const path = join(folder, "samples");
  const asked = Promise.withResolvers<void>();
  let count = 0;
  const server = createServer((_, reply) => {
    if (answers(++count)) reply.end();
    if (count === until) asked.resolve();
  });
  await once(server.listen(path), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { path, asked: asked.promise };
}

it("says that workerd is silent after three misses in a row, and again after three more", async () => {
  const { path } = await startServer(() => false, 1);
  const twice = Promise.withResolvers<void>();
  const said: string[] = [];
  const watching = watchHeartbeat(
    path,
    (sentence) => {
      if (said.push(sentence) === 2) twice.resolve();
    },
    { askEveryMs: 1, answerWithinMs: 20 },
  );
  onTestFinished(() => watching.stop());
  await twice.promise;
  expect(said).toEqual(Array(2).fill("workerd has not answered for 0.06 s: it will be killed."));
});

it.each([
  ["an answer between two misses", (asked: number) => asked % 3 === 0],
  ["an answer each time", () => true],
])("says nothing of a workerd that gives %s", async (_, answers) => {
  const { path, asked } = await startServer(answers, 5);
  const said: string[] = [];
  // A busy machine has so long to answer.
  const watching = watchHeartbeat(path, (sentence) => said.push(sentence), { askEveryMs: 1, answerWithinMs: 1_000 });
  onTestFinished(() => watching.stop());
  await asked;
  expect(said).toEqual([]);
});
