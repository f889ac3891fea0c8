import { expect, it } from "vitest";
import { PROBE_MA_S } from "../api/contract/deployment.ts";
import { examine } from "./doctor-examine.ts";
import type { Looking, Seen } from "./doctor-look.ts";
import type { Call } from "./command.ts";
import { testFolder } from "./testing.ts";

interface Report {
  readonly ways: { readonly header: object };
  readonly inFirefox: { readonly header: object };
  readonly rows: readonly { readonly tried: string; readonly came: string; readonly means: string }[];
  readonly next: readonly string[];
}

/** A site on port 443 whose worker is asked for another port, and where nothing answers but what is written here. */
const ORIGIN = "https://localhost";
const ENDPOINT = { origin: ORIGIN, token: "t", ca: undefined, caFile: undefined, timeoutMs: 1000 };
const HEALTH = {
  status: "ok",
  problems: [],
  warnings: [],
  policy: "ok",
  store: "ok",
  revision: 1,
  killSwitch: null,
  http3: "ok",
  udpBuffers: { receiveBytes: 425_984, sendBytes: 8 << 20, wantedBytes: 7 << 20 },
  stack: null,
};

function seen(path: string, altSvc: readonly string[], body: unknown = ""): Seen {
  return { path, status: 200, altSvc, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body) };
}

/** @param port That offers name. */
function siteThatOffers(port: number): Looking {
  return {
    see: async (path) => {
      const { pathname, searchParams } = new URL(path, ORIGIN);
      if (pathname.endsWith("/health")) return seen(path, [], HEALTH);
      if (!pathname.endsWith("/probe")) return seen(path, [], '<img src="/a.png">');
      const offer = `h3=":${port}"; ma=${PROBE_MA_S}`;
      const value = { offer, clear: "clear", nothing: null }[searchParams.get("answer") ?? ""] ?? null;
      const isHeader = searchParams.get("actuator") === "header";
      return seen(path, isHeader && value !== null ? [value] : [], {
        program: "adaptive-h3",
        actuator: "header",
        header: isHeader ? "alt-svc" : "h3-advice",
        value,
        edge: "adaptive-h3",
        httpProtocol: "HTTP/2",
        cf: ["clientTcpRtt"],
        policyMs: 1,
        lookUpMs: 1,
        budgetMs: 10,
        assets: null,
      });
    },
    close: () => undefined,
  };
}

async function examined(port: number): Promise<{ report: Report; text: string; exitCode: number | undefined }> {
  const io = { projectFolder: testFolder(), env: {} };
  const call = { io, columns: 200 } as unknown as Call;
  const { json, text, exitCode } = await examine(siteThatOffers(port), ENDPOINT, call, "/", undefined);
  return { report: json as Report, text, exitCode };
}

it("tells the browsers apart where an offer leads from port 443 to one above 1023", async () => {
  const { report, text, exitCode } = await examined(8443);
  expect(report.rows).toContainEqual({
    tried: "ports of the offers",
    came: "8443, from 443",
    means: "Chromium does not go there, Firefox does",
  });
  expect(report.ways.header).toMatchObject({ offers: false, works: false });
  expect(report.inFirefox.header).toMatchObject({ offers: true, works: true });
  expect(text).toMatch(
    /header \(in force\) +Chromium +no +yes +yes +no\nheader \(in force\) +Firefox +yes +yes +yes +yes/,
  );
  expect(report.next.join("\n")).toContain("An offer leads to port 8443");
  expect(exitCode).toBe(1);
});

it("says nothing of ports where both browsers go there, and what the edge's health says of its buffers", async () => {
  const { report, text, exitCode } = await examined(443);
  expect(report.rows.map(({ tried }) => tried)).not.toContain("ports of the offers");
  expect(text).toMatch(/header \(in force\) +Chromium, Firefox +yes +yes +yes +yes/);
  expect(report.rows).toContainEqual({
    tried: "UDP buffers of the edge",
    came: "416 KiB to receive, 8192 KiB to send",
    means: expect.stringMatching(/^too small: .* Set net\.core\.rmem_max to 7500000;/) as string,
  });
  expect(exitCode).toBe(0);
});
