// Only here: a real browser follows offers, and goes back without UDP.
import published from "../../policy-api/policies/published.json" with { type: "json" };
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import type { DecisionLine } from "../../policy-api/decision/decide.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import {
  CLIENTS,
  drivenPage,
  launchBrowser,
  launchFirefox,
  loadImage,
  navigate,
  OPENS_MS,
  RESTS_MS,
  untilH3,
} from "./browser.ts";
import { fixed, startTestSystem, testFolder, until } from "./harness.ts";
import { startRelay } from "./relay.ts";

/** How long Firefox takes at most to write down an offer that it was made. */
const WRITES_MS = 2_000;
/** From when a connection rests that a browser was asked to leave until the edge has closed it: 5 s, and a look each second. */
const CLOSES_MS = 7_000;

const BROWSERS = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];

it("follows an offer, returns when it ends, and follows the policy off HTTP/3 and back", async () => {
  const system = await startTestSystem();
  const { page } = await (await CLIENTS.Chromium(system))();
  await system.putPolicy(fixed("fixed-h3", 4));

  expect(await navigate(page, system.port), "the first visit").toBe("h2");
  await untilH3(page);
  const second = await navigate(page, system.port, "/two");
  expect(second, "the next navigation").toBe("h3");
  expect(await loadImage(page, 1000), "and what it loads").toBe("h3");

  // Only the browser's own clock ends the offer.
  await sleep(4_500);
  expect(await navigate(page, system.port), "after ma").toBe("h2");
  await system.putPolicy(fixed("fixed-h3", 60));
  await navigate(page, system.port);
  await untilH3(page);
  expect(await navigate(page, system.port), "offered again").toBe("h3");

  await system.putPolicy(fixed("fixed-h2"));
  await navigate(page, system.port);
  expect(await navigate(page, system.port), "taken back by the policy").toBe("h2");
  expect(await navigate(page, system.port), "and it stays so").toBe("h2");
  await until("the line of a decision", () =>
    system.decisions.find((line) => line.decision.advertise.kind === "clear"),
  );

  await system.putPolicy(fixed("fixed-h3", 60));
  await navigate(page, system.port);
  await untilH3(page);
  expect(await navigate(page, system.port), "and back").toBe("h3");
});

/** Serves an operator's site until the test ends, and returns its URL. */
async function startOrigin(answer: RequestListener): Promise<string> {
  const origin = createServer(answer);
  await new Promise((resolve) => {
    origin.listen(0, "127.0.0.1", () => resolve(undefined));
  });
  onTestFinished(() => {
    origin.closeAllConnections();
    origin.close();
  });
  return `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
}

it("Chromium's QUIC handshake waits for the files of the page that brings an offer", async () => {
  const held = new Set<() => void>();
  const origin = await startOrigin(({ url = "" }, response) => {
    if (url === "/held") held.add(() => response.end());
    else response.setHeader("content-type", url === "/" ? "text/html" : "image/png").end(`<img src="/held">`);
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(fixed("fixed-h3"));
  const open = await CLIENTS.Chromium(system);
  // It waits for 2.5 s at most, which a busy machine may take for the page.
  const protocols = await until("a page within 2.5 s", async () => {
    const { page, close } = await open();
    const beganMs = performance.now();
    await page.goto(`https://h3.test:${system.port}/`, { waitUntil: "domcontentloaded" });
    const seen: string[] = [];
    for (let i = 0; i < 10; i++) {
      await sleep(50);
      seen.push(await loadImage(page, 1000 + i));
    }
    const tookMs = performance.now() - beganMs;
    for (const end of held) end();
    held.clear();
    await untilH3(page);
    await close();
    return tookMs < 2_500 ? seen : undefined;
  });
  expect(protocols).toEqual(Array.from({ length: 10 }, () => "h2"));
});

it("Firefox is offered HTTP/3 by a page's first file, and loads that page over HTTP/2", async () => {
  const files = Array.from({ length: 10 }, (_, i) => `/files/${i}`);
  const origin = await startOrigin(({ url = "" }, response) => {
    const page = files.map((file) => `<img src="${file}">`).join("");
    response.setHeader("content-type", url === "/" ? "text/html" : "image/png").end(url === "/" ? page : "");
  });
  const system = await startTestSystem({ origin });
  await system.putPolicy(fixed("fixed-h3"));
  const { page } = await (await CLIENTS.Firefox(system))();
  expect(await navigate(page, system.port)).toBe("h2");
  const protocols = await page.evaluate(() =>
    (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).map((one) => one.nextHopProtocol),
  );
  // The last one is the site's icon, which it asks for once the page is there.
  expect(protocols.slice(0, files.length)).toEqual(files.map(() => "h2"));
  await untilH3(page);
  expect(await navigate(page, system.port), "the next page").toBe("h3");
});

it.each([
  ["stays on its QUIC connection when an offer ends, until it has rested", "observe", 2],
  ["leaves HTTP/3 when an offer is taken back, as the edge asks it to", "fixed-h2", 3600],
] as const)("Firefox %s", { timeout: 180_000 }, async (_what, mode, maS) => {
  const system = await startTestSystem();
  // Where a preference says a host's address, it has no addresses by which it finds the connection again.
  const browser = await launchFirefox(system, testFolder(), { "network.dns.forceResolve": "" });
  const page = drivenPage(await browser.newPage());
  const visit = (): Promise<string> => navigate(page, system.port, "/", "localhost");
  await system.putPolicy(fixed("fixed-h3", maS));
  expect(await visit(), "the first visit").toBe("h2");
  await untilH3(page);
  expect(await visit(), "the next navigation").toBe("h3");

  await system.putPolicy(fixed(mode));
  await sleep(2_500);
  // The page that takes the offer back comes over HTTP/3.
  expect(await visit(), "the page that says so").toBe("h3");
  for (let i = 0; i < 3; i++) {
    await sleep(OPENS_MS);
    expect(await visit(), "the pages after it").toBe(mode === "observe" ? "h3" : "h2");
  }
  if (mode === "observe") {
    await sleep(RESTS_MS);
    expect(await visit(), "when the connection has rested").toBe("h2");
  } else {
    // It may have kept the connection, and follows no offer beside it.
    await sleep(CLOSES_MS);
  }

  await system.putPolicy(fixed("fixed-h3", 60));
  await visit();
  await untilH3(page);
  expect(await visit(), "offered again").toBe("h3");
});

it.each(
  BROWSERS.flatMap(
    (name) =>
      [
        [name, "closed", "127.0.0.1:0,http3=off", Infinity],
        [name, "swallowed on the way, as firewalls do", "127.0.0.1:0", 1],
      ] as const,
  ),
)(
  "%s loads the page over HTTP/2 when UDP is %s, however often HTTP/3 is offered",
  async (name, _how, listen, dropEvery) => {
    const system = await startTestSystem({ listen: [listen] });
    const relay = await startRelay(system.port, "127.0.4.1", { dropEvery });
    const { page } = await (await CLIENTS[name](system))();
    await system.putPolicy(fixed("fixed-h3"));
    for (let i = 0; i < 4; i++) {
      expect(await navigate(page, relay.port, i % 2 === 0 ? "/" : "/two")).toBe("h2");
      expect(await loadImage(page, 1000 + i)).toBe("h2");
    }
    expect(system.decisions.every((line) => line.decision.advertise.kind === "h3")).toBe(true);
  },
);

it("Firefox keeps an offer while it is closed, and returns over HTTP/3", async () => {
  const system = await startTestSystem();
  const profile = testFolder();
  const visit = async (): Promise<string> => {
    const browser = await launchFirefox(system, profile);
    const page = drivenPage(await browser.newPage());
    const protocol = await navigate(page, system.port);
    if (protocol === "h2") await untilH3(page);
    // It writes what it remembers a moment later.
    await sleep(WRITES_MS);
    await browser.close();
    return protocol;
  };
  await system.putPolicy(fixed("fixed-h3", 3600));
  expect(await visit()).toBe("h2");
  expect(await visit()).toBe("h3");
});

it("Firefox that lets QUIC race against TCP stays on a connection that is open", async () => {
  const system = await startTestSystem();
  const browser = await launchFirefox(system, testFolder(), { "network.http.happy_eyeballs_enabled": true });
  const page = drivenPage(await browser.newPage());
  await system.putPolicy(fixed("fixed-h3", 3600));
  for (let i = 0; i < 4; i++) {
    expect(await navigate(page, system.port, i % 2 === 0 ? "/" : "/two")).toBe("h2");
    expect(await loadImage(page, 1000 + i)).toBe("h2");
  }
});

it("gives two clients with different paths different answers", async () => {
  const system = await startTestSystem();
  await system.putPolicy(published as unknown as Policy);
  // Both clients start unknown, and the published networks are taken for theirs: of these HTTP/3 is faster on the mean. One of
  // the paths drops every 20th packet to the client.
  const answers: Record<string, string> = {};
  for (const [name, address, dropEvery] of [
    ["clean", "127.0.1.1", Infinity],
    ["lossy", "127.0.2.1", 20],
  ] as const) {
    const relay = await startRelay(system.port, address, { dropEvery });
    const browser = await launchBrowser(system.spkiSha256);
    const page = await browser.newPage();
    expect(await navigate(page, relay.port), name).toBe("h2");
    await untilH3(page);
    expect(await navigate(page, relay.port), name).toBe("h3");
    // Load something to measure; the next navigation reports it to the server. The files fit in the sockets' buffers, because
    // an overflow there loses packets on a clean path too. They are many and small: on a busy machine the RTTs of one path differ by
    // some milliseconds, and a connection with another RTT says less. A burst makes QUIC's longer, so the last are tiny.
    for (let i = 0; i < 100; i++) await loadImage(page, 20_000 + i);
    for (let i = 0; i < 40; i++) await loadImage(page, 100 + i);
    await navigate(page, relay.port, "/two");
    answers[name] = await navigate(page, relay.port);
  }
  expect(answers).toEqual({ clean: "h2", lossy: "h3" });
  const last = await until("decisions", () => (system.decisions.length >= 8 ? system.decisions : undefined));
  const [clean, lossy] = [last[3], last[7]];
  expect(clean?.decision.reason).toBe("h2-faster");
  expect(clean?.decision.lossRatio).toBeLessThan(0.01);
  expect(lossy?.decision.reason).toBe("h3-faster");
  expect(lossy?.decision.lossRatio).toBeGreaterThan(0.015);
  // By what was measured of its own connections.
  expect(lostOverQuic(clean)).toBeLessThan(0.01);
  expect(lostOverQuic(lossy)).toBeGreaterThan(0.025);
  expect(lostOverQuic(lossy)).toBeLessThan(0.1);
});

function lostOverQuic(line: DecisionLine | undefined): number {
  const quic = (line?.history.connections ?? []).filter(({ transport }) => transport === "quic");
  const total = (of: "packets" | "lost"): number => quic.reduce((sum, one) => sum + one[of], 0);
  return total("lost") / total("packets");
}
