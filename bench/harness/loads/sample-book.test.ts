import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PostedSample } from "../../lab/tee.ts";
import { SampleBook } from "./sample-book.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const closing = (clientAddress: string, atMs: number): PostedSample => ({
  clientAddress,
  transport: "tcp",
  connectionId: `${atMs}`,
  atMs,
  closing: true,
});

it("waits for as many connections as closed, of that client, since that moment; then it forgets them", async () => {
  const book = new SampleBook();
  book.add(closing("10.0.1.1", 50));
  const found = book.closed("10.0.1.1", 100, 2);
  book.add(closing("10.0.1.1", 101));
  book.add(closing("10.0.2.1", 102));
  book.add(closing("10.0.1.1", 103));
  expect((await found).map(({ atMs }) => atMs)).toEqual([50, 101, 103]);
  const again = book.closed("10.0.1.1", 0, 1);
  await vi.runAllTimersAsync();
  expect(await again).toEqual([]);
});

it("does not wait for ever for a connection that was never heard of again", async () => {
  const book = new SampleBook();
  const found = book.closed("10.0.1.1", 0, 1);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await found).toEqual([]);
});
