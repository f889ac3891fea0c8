import { afterEach, expect, it, vi } from "vitest";
import { StoreHealth } from "./store-health.ts";
import type { StoreBindings } from "./stores.ts";

afterEach(() => void vi.restoreAllMocks());

/** A store with this id, and a marker file with this text. */
function bindings(
  options: { id?: string; marker?: string | undefined; takesWrites?: boolean; isSetAside?: boolean } = {},
) {
  const { id = "a", takesWrites = true, isSetAside = false } = options;
  const file = { text: options.marker };
  const store = {
    check: vi.fn<() => Promise<{ activation: undefined; id: string }>>(() =>
      Promise.resolve({ activation: undefined, id }),
    ),
    tryWrite: vi.fn<() => Promise<void>>(() =>
      takesWrites ? Promise.resolve() : Promise.reject(new Error("disk full")),
    ),
  };
  const fetch = (url: string, init?: { method: string; body: string }): Promise<Response> => {
    if (url.endsWith("/set-aside")) return Promise.resolve(new Response(null, { status: isSetAside ? 200 : 404 }));
    if (init?.method === "PUT") file.text = init.body;
    return Promise.resolve(
      file.text === undefined ? new Response("none", { status: 404 }) : new Response(`${file.text}\n`),
    );
  };
  const env = { POLICY: { idFromName: () => "", get: () => store }, MARKER: { fetch } } as unknown as StoreBindings;
  return { env, store, file };
}

const T = 1_000_000;

it("the first store writes the marker, and is known by it from then on", async () => {
  const { env, file } = bindings({ id: "a" });
  expect(await new StoreHealth().check(env, T)).toEqual({
    activation: undefined,
    takesWrites: true,
    isReplaced: false,
    isSetAside: false,
  });
  expect(file.text).toBe("a");
  expect((await new StoreHealth().check(env, T)).isReplaced).toBe(false);
});

it("a store with another id than the marker's is one that was replaced, and the log says so", async () => {
  const written = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { env, file } = bindings({ id: "b", marker: "a" });
  expect((await new StoreHealth().check(env, T)).isReplaced).toBe(true);
  expect(written).toHaveBeenCalledWith(expect.stringContaining("emptied or replaced"));
  expect(file.text).toBe("a");
});

it("without a marker's folder nothing is said about it", async () => {
  const { env } = bindings({ id: "b", marker: "a" });
  const { MARKER: _, ...unmarked } = env;
  expect((await new StoreHealth().check(unmarked, T)).isReplaced).toBe(false);
  const broken = { fetch: () => Promise.reject(new Error("no folder")) } as unknown as Fetcher;
  expect((await new StoreHealth().check({ ...env, MARKER: broken }, T)).isReplaced).toBe(false);
});

it("a database that was set aside is found out, also if the store does not answer", async () => {
  const { env, store } = bindings({ isSetAside: true });
  expect(await new StoreHealth().check(env, T)).toMatchObject({ isReplaced: false, isSetAside: true });
  store.check.mockImplementation(() => Promise.reject(new Error("gone")));
  expect(await new StoreHealth().check(env, T)).toMatchObject({ activation: null, isSetAside: true });
});

it("a store that takes no writes is found out, and asked at most once in a second", async () => {
  const { env, store } = bindings({ takesWrites: false });
  const health = new StoreHealth();
  for (const ms of [0, 999, 1_000, 5_000, 9_999, 11_000])
    expect((await health.check(env, T + ms)).takesWrites).toBe(false);
  // It writes more seldom by itself.
  expect(store.tryWrite).toHaveBeenCalledTimes(5);
  expect(store.check).toHaveBeenCalledTimes(5);
});

it("a store that does not answer has no activation, and never fails the first check", async () => {
  const { env, store } = bindings();
  store.check.mockImplementation(() => Promise.reject(new Error("gone")));
  expect(await new StoreHealth().check(env, T)).toMatchObject({ activation: null, isReplaced: false });
  const health = new StoreHealth();
  await health.checkFirst(env, T);
  await health.checkFirst(env, T + 60_000);
  expect(store.check).toHaveBeenCalledTimes(2);
});
