import { beforeEach, describe, expect, it } from "vitest";
import { addSample } from "../decision/connections.ts";
import type { PathSample } from "../decision/sample.ts";
import { adaptivePolicy, offersHeld, sample } from "../decision/testing.ts";
import { MADE_MS, type Person, person } from "./testing.ts";

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("adaptive.json", adaptivePolicy());
});
const told = (...samples: PathSample[]) => ({ connections: samples.reduce(addSample, []) });
const asked = (): unknown => anna.api.requests.at(-1)?.body;

describe("explain", () => {
  it("a path under a policy that is not stored", async () => {
    const { code, out } = await anna.does(
      "explain --rtt 50 --loss 4% --packets 1e6 --rate 25e6 --policy adaptive.json",
    );
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.trim())).toEqual([
      `header       alt-svc: h3=":${new URL(anna.api.url).port}"; ma=100`,
      "reason       h3-faster: HTTP/3 is expected to be faster, by more than the margin",
      "policy       that of the file, in mode adaptive on /",
      "request      over TCP, RTT 50 ms, 200 Mbit/s",
      "known        1 connection over TCP (40,000 of 1,000,000 packets lost)",
      "loss         4 % of all packets",
      "over HTTP/3  with an RTT of 50 ms and pages of 1 MB: the next page of this visit is 70.6 % faster (give or take 37.4 %); a later visit's page is 70.6 % faster (give or take 37.4 %)",
      "an offer     changes 1.2 next pages, on average, and makes each of them 70.6 % faster (give or take 37.4 %)",
      "chance       100 % that this policy gives this answer here",
      "",
    ]);
    expect(asked()).toMatchObject({
      request: { transport: "tcp", path: "/", rttMs: 50, deliveryRateBps: 25e6 },
      history: { state: "known", connections: [{ transport: "tcp", packets: 1e6, lost: 40_000, rttMs: 50 }] },
      policy: { mode: "adaptive" },
    });
  });

  it("a client: the address is in the body, and the server knows the rest", async () => {
    const known = told(sample({ atMs: MADE_MS, packetsSent: 5_000, packetsLost: 150, minRttMs: 40 }));
    anna.api.ports.clients.known.set("192.0.2.7", { client: known });
    const { out } = await anna.does("explain --client 192.0.2.7");
    expect(out).toContain("header   no alt-svc: the response stays as it is");
    expect(out).toContain("known    1 connection over TCP (150 of 5,000 packets lost)");
    expect(out).toContain("version 0 (revision 0), in mode observe on /");
    expect(anna.api.asked()).toEqual(["POST /decisions/explain"]);
    expect(asked()).toEqual({ client: "192.0.2.7", request: { transport: "tcp", path: "/" } });
  });

  it("all that is known of a request, by a version", async () => {
    await anna.does("explain --transport quic --path /shop/ --asn 64500 --country jp --version 0 --json");
    expect(asked()).toEqual({
      request: { transport: "quic", path: "/shop/", asn: 64_500, country: "JP" },
      version: 0,
    });
  });

  it.each([
    ["--client 192.0.2.7 --loss 1%", "the server looks up what --loss would tell"],
    ["--packets 5", "--packets is the evidence behind --loss"],
    ["--policy adaptive.json --version 1", "exclude each other"],
    ["--transport udp", "--transport must be tcp or quic"],
    ["--loss 3", "--loss must be a share such as 5% or 0.05"],
  ])("%s is refused", async (options, why) => {
    const { code, err } = await anna.does(`explain ${options}`);
    expect(code).toBe(2);
    expect(err).toContain(why);
    expect(anna.api.requests).toEqual([]);
  });
});

const client = told(
  sample({
    atMs: MADE_MS - 13_016,
    minRttMs: 40,
    packetsSent: 40,
    packetsLost: 1,
    bytesSent: 200_000,
    deliveryRateBps: 2_500_000,
  }),
  sample({ transport: "quic", atMs: MADE_MS - 60_000, minRttMs: 41.5 }),
);
const offers = offersHeld({
  untilMs: MADE_MS,
  answeredAtMs: MADE_MS,
  offering: true,
  ignoredAtMs: [MADE_MS - 60_000],
});

describe("look-up", () => {
  beforeEach(() => {
    anna.api.ports.clients.known.set("192.0.2.7", { client, offers });
  });

  it("tells all that is stored of a client, in a body and not in a URL", async () => {
    const { code, out } = await anna.does("look-up --client 192.0.2.7");
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "over  packets  loss   least RTT  best rate  last heard of",
      "TCP        40  2.5 %  40 ms      20 Mbit/s  13 s ago",
      "QUIC        0  -      41.5 ms    -          1 min ago",
      "",
      "The last offer lives until 2026-11-21T10:00:00Z.",
      "None was taken.",
      "Ignored: 2026-11-21T09:59:00Z.",
      "",
    ]);
    expect(anna.api.asked()).toEqual(["POST /clients/look-up"]);
    expect(JSON.parse((await anna.does("look-up --client 192.0.2.7 --json")).out)).toMatchObject({ known: true });
  });

  it("of somebody who is not known, and of nobody", async () => {
    expect((await anna.does("look-up --client 192.0.2.8")).out).toBe("Nothing is known of the client 192.0.2.8.\n");
    expect(await anna.does("look-up")).toMatchObject({ code: 2 });
  });
});

describe("forget", () => {
  it.each([
    ["--client 192.0.2.7", "POST /clients/forget", "Forgotten: 1 row of the client 192.0.2.7."],
    ["--client 192.0.2.9", "POST /clients/forget", "Nothing was known of the client 192.0.2.9."],
  ])("%s", async (options, call, text) => {
    anna.api.ports.clients.known.set("192.0.2.7", { client, offers });
    const { code, out } = await anna.does(`forget ${options} --yes`);
    expect(code).toBe(0);
    expect(out).toContain(text);
    expect(anna.api.asked()).toEqual([call]);
    expect(anna.api.requests[0]?.path).not.toContain("192.0.2");
  });

  it.each(["forget --yes", "forget --client 192.0.2.7"])("%s is refused", async (line) => {
    expect(await anna.does(line)).toMatchObject({ code: 2 });
    expect(anna.api.requests).toEqual([]);
  });
});
