// Only here: a newcomer's order of commands, in a browser and on a terminal.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import type { DashboardData, SavedView } from "../../policy-api/cli/dashboard-page/data.ts";
import { freePort } from "../workerd/listening.ts";
import { DEMO_NETWORKS } from "../workerd/demo-networks.ts";
import { launchBrowser, navigate } from "./browser.ts";
import { probe, testFolder, until } from "./harness.ts";
import { interrupt, type Started, start } from "./npm-start.ts";

const OWN_PAGE = "<!doctype html><title>Own</title><h1>Own site</h1>";

/** Those of the demonstration's networks. */
const CLASSES = ["all", "RTT under 10 ms", "RTT 10 to 30 ms", "RTT 30 to 80 ms", "RTT 150 ms and more"];

/** In percent. */
function rangeOf(rows: SavedView["rows"], whose: string): readonly number[] {
  const range = rows.find(([name]) => name === whose)?.[2] ?? "";
  return (/^(\S+) to (\S+) %$/.exec(range) ?? []).slice(1).map(Number);
}

/** A site of one's own. */
async function startOwnSite(): Promise<string> {
  const site = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(OWN_PAGE));
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  onTestFinished(() => void site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

it(
  "a newcomer's order: the demo, the demo with visitors, a site of one's own; each says what is in force, and means it",
  { timeout: 300_000 },
  async () => {
    const [stateDir, port] = [testFolder(), await freePort()];
    const site = `https://localhost:${port}`;
    const begin = async (env: Record<string, string>): Promise<Started> => {
      const started = start({ PORT: String(port), STATE_DIR: stateDir, ...env });
      await until(
        "the welcome",
        () => (started.output().includes("Ctrl-C ends everything.") ? true : undefined),
        60_000,
      );
      return started;
    };
    const end = async (started: Started): Promise<void> => {
      interrupt(started);
      expect(await started.ended()).toBe(0);
      // What is printed never contradicts itself.
      expect(started.output()).not.toMatch(/h3-faster \(-/);
      expect(started.output()).not.toMatch(/h2-faster \(\+/);
    };
    // The demo: nobody is offered what is slower on a loopback.
    const demo = await begin({});
    const [home] = await probe({ stateDir }, "h2", [`${site}/`], ["-header", "Accept: text/html"]);
    expect([home?.status, home?.headers["Alt-Svc"]]).toEqual([200, undefined]);
    const [, congestion] = /sends over TCP with (\w+)\./.exec(demo.output()) ?? [];
    expect(demo.output()).toContain(`everyone else: version 1, adaptive (for TCP with ${congestion})`);
    await until("the first decision", () =>
      /HTTP\/2 .*say nothing +h2-faster \(-/.test(demo.output()) ? true : undefined,
    );
    // But a browser on a described network is, and comes over HTTP/3.
    const spki = /errors-spki-list=(\S+)/.exec(demo.output())?.[1] ?? "";
    const page = await (await launchBrowser(spki, ["localhost"])).newPage();
    expect(await navigate(page, port, "/", "localhost")).toBe("h2");
    expect(await page.locator("#why").textContent()).toMatch(
      /^HTTP\/3 is not offered to you: HTTP\/2 is expected to be faster here \(h2-faster, version 1\)\.$/,
    );
    const dashboard = /^ +See +(\S+) /m.exec(demo.output())?.[1];
    expect(await page.getByRole("link", { name: "dashboard" }).getAttribute("href")).toBe(dashboard);
    await page.setViewportSize({ width: 380, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(380);
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(15, 19, 23)");
    const network = "another continent";
    await page.getByRole("link", { name: network }).click();
    await page.getByText("Emulated").waitFor();
    expect(await page.locator("#why").textContent()).toContain(
      "HTTP/3 is offered to you, for a day: HTTP/3 is expected to be faster here (h3-faster",
    );
    const protocol = (): Promise<string> =>
      page.evaluate(
        () => (performance.getEntriesByType("navigation") as PerformanceNavigationTiming[])[0]?.nextHopProtocol ?? "",
      );
    await until("HTTP/3", async () => {
      await page.getByRole("link", { name: "Second page" }).click();
      await page.waitForURL(/two$/);
      const is = await protocol();
      if (is === "h3") return true;
      await page.getByRole("link", { name: "First page" }).click();
      return undefined;
    });
    await until("its decision", () =>
      new RegExp(`HTTP/3 .*170 ms .*h3-faster \\(\\+.*\\[a browser, as if on: ${network}\\]`).test(demo.output())
        ? true
        : undefined,
    );
    // For that browser alone: another one is decided by what it is.
    const [other] = await probe({ stateDir }, "h2", [`${site}/`], ["-header", "Accept: text/html"]);
    expect(other?.headers["Alt-Svc"]).toBeUndefined();
    await end(demo);

    // With visitors, as the banner suggests.
    const visited = await begin({ DEMO_VISITORS: "on" });
    expect(visited.output()).toContain(
      "everyone else: version 1, adaptive; 70 % of clients draw their answer, to compare both; pages report",
    );
    await until("visitors of several networks", () =>
      DEMO_NETWORKS.filter(({ about }) => visited.output().includes(`[made up: ${about}]`)).length >= 3
        ? true
        : undefined,
    );
    // A fast line that is left on HTTP/2, and a network that polices UDP and is taken back.
    const readable = (about: string, told: RegExp): true | undefined =>
      visited
        .output()
        .split("\n")
        .some((line) => told.test(line) && line.includes(about)) || undefined;
    await until("a fast line on HTTP/2", () => readable("fibre, in the same town", /HTTP\/2 .*h2-faster/), 60_000);
    // Within two minutes the dashboard has an effect with its interval, by class of RTT and by network, and says that it is invented.
    const shown = /^ +See +(\S+) /m.exec(visited.output())?.[1] ?? "";
    const saved = await until(
      "on which networks HTTP/3 is faster",
      async () => {
        const { note, results } = (await (await fetch(`${shown}data`)).json()) as DashboardData;
        expect(note).toContain("the visitors are invented");
        const rows = "value" in results ? results.value.rows.filter(([, , range]) => range.endsWith("%")) : [];
        const names = new Set(rows.map(([name]) => name));
        return [...CLASSES, ...DEMO_NETWORKS.map(({ asn, about }) => `${about} (AS${asn})`)].every((name) =>
          names.has(name),
        )
          ? rows
          : undefined;
      },
      120_000,
    );
    // On another continent offers save time, in an office whose network polices UDP they cost some.
    const [low = 0] = rangeOf(saved, "another continent (AS64500)");
    const [, high = 0] = rangeOf(saved, "an office whose network polices UDP (AS64499)");
    expect([low > 0, high < 0], JSON.stringify(saved)).toEqual([true, true]);
    await end(visited);

    // One's own site: what the demo did does not reach it, and emulation is not there.
    const own = await begin({ ORIGIN: await startOwnSite() });
    expect(own.output()).toContain("everyone: version 0, observe: it measures, and offers nothing");
    for (const path of ["/", "/as/4-1/"]) {
      const [load] = await probe({ stateDir }, "h2", [site + path], ["-header", "Accept: text/html"]);
      expect([load?.status, load?.headers["Alt-Svc"], load?.bytes]).toEqual([200, undefined, OWN_PAGE.length]);
      expect(load?.headers["Server-Timing"]).toBeUndefined();
    }
    await end(own);
    expect(own.output()).not.toContain("made up");
  },
);
