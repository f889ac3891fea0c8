import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { readConfig } from "./config.ts";
import { type Plan, planOf, warningsIn } from "./plan.ts";

const folder = mkdtempSync(join(tmpdir(), "adaptive-h3-plan-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The repository's wrangler.toml with some lines before its tables, and some at its end. */
function written(top: string, end = ""): string {
  const own = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const at = own.indexOf("[vars]");
  const main = own.slice(0, at).replace("worker/worker.ts", join(ROOT, "worker/worker.ts"));
  const file = join(folder, "wrangler.toml");
  writeFileSync(file, `${main}${top}\n${own.slice(at)}\n${end}\n`);
  return file;
}
const planWith = (top: string, allFiles = false): Plan => planOf(readConfig(written(top)), [], { allFiles });
const routes = (...patterns: readonly string[]): string =>
  `routes = [${patterns.map((pattern) => `{ pattern = "${pattern}", zone_name = "example.com" }`).join(", ")}]`;
const OWN = "www.example.com/_h3/*";

describe("a deployment that would go wrong without a word", () => {
  it.each([
    ["takes images along", routes("www.example.com/*"), /^the route www\.example\.com\/\* leads images and files/],
    ["takes images along on a subdomain", routes("*.example.com/*"), /^the route \*\.example\.com\/\* leads images/],
    [
      "leads a folder of files to the worker",
      routes("www.example.com/", "www.example.com/images/*", OWN),
      /^the route www\.example\.com\/images\/\* leads a folder of files to the worker \(\/images\/\)/,
    ],
    [
      "has no way to its API",
      routes("www.example.com/articles/*"),
      /^no route leads www\.example\.com\/_h3\/\* to the worker/,
    ],
    ["has it on another host", routes("example.com/a", OWN), /^no route leads example\.com\/_h3\/\*/],
    [
      "has a star in the middle",
      routes("www.example.com/*.jpg", OWN),
      /^Cloudflare takes no route www\.example\.com\/\*\.jpg: /,
    ],
    [
      "has its API over http alone",
      routes("https://www.example.com/a*", "http://www.example.com/_h3/*"),
      /^no route leads/,
    ],
    ["has a part of its API", routes("www.example.com/a", "www.example.com/_h3/v1/h*"), /^no route leads/],
    ["has it for one page", routes("www.example.com/_h3/v1/health/x"), /^no route leads/],
  ])("is stopped where it %s", (_name, top, fault) => {
    expect(planWith(top).faults).toEqual([expect.stringMatching(fault)]);
  });

  it("is stopped where a route has a port", () => {
    const { faults } = planWith(routes("www.example.com:8443/a", "www.example.com:8443/_h3/*"));
    expect(faults).toEqual(
      [1, 2].map(() => expect.stringMatching(/^Cloudflare takes no route www\.example\.com:8443/)),
    );
  });

  it("is stopped where a custom domain has no origin, whatever comes to it", () => {
    const top = 'routes = [{ pattern = "www.example.com", custom_domain = true }]';
    expect(planWith(top, true).faults).toEqual([
      "www.example.com is a custom domain, which has no origin behind it: set ORIGIN, or use a route",
    ]);
  });

  it("is stopped where a variable is wrong, or a route became one", () => {
    const own = readFileSync(written(""), "utf8").replace(
      "[vars]",
      `[vars]\nBUDGET_MS = "soon"\n${routes("a.example/b")}`,
    );
    writeFileSync(join(folder, "wrangler.toml"), own);
    expect(planOf(readConfig(join(folder, "wrangler.toml")), [], { allFiles: false }).faults).toEqual([
      "the variable BUDGET_MS must be a whole number from 0 to 1000",
      expect.stringMatching(
        /^the variable routes is unknown; the known ones are ORIGIN, .* Routes stand above \[vars\]/,
      ),
    ]);
  });

  it("is stopped where a cache stands in front of the worker, which wrangler takes", () => {
    const { faults } = planOf(readConfig(written("", "[cache]\nenabled = true")), [], { allFiles: false });
    expect(faults).toEqual([expect.stringMatching(/^\[cache\] would send one client's Alt-Svc to all clients/)]);
  });

  it("is stopped where wrangler itself only warns", { timeout: 120_000 }, () => {
    const file = written("", routes("www.example.com/*"));
    const { status, stdout, stderr } = spawnSync(
      join(ROOT, "node_modules/.bin/wrangler"),
      ["deploy", "--dry-run", "-c", file, "--outdir", join(folder, "out")],
      { cwd: ROOT, encoding: "utf8" },
    );
    expect(status, stderr).toBe(0);
    const warnings = warningsIn(stdout + stderr);
    expect(warnings).toEqual([expect.stringMatching(/Unexpected fields found in observability\S* field: "routes"/)]);
    expect(planOf(readConfig(file), warnings, { allFiles: false }).faults).toEqual([
      expect.stringMatching(/^wrangler warns: .*"routes"\. Routes stand above \[vars\]/),
    ]);
  });
});

describe("a deployment that may go on", () => {
  it("says what it will do", () => {
    const plan = planWith(routes("www.example.com/", "www.example.com/articles/*", OWN));
    expect(plan.faults).toEqual([]);
    expect(plan.hosts).toEqual(["www.example.com"]);
    expect(plan.says).toEqual([
      "This deploys the worker adaptive-h3, with EDGE=cloudflare.",
      "Requests for www.example.com/ come to it.",
      "Requests for www.example.com/articles/* come to it.",
      "Requests for www.example.com/_h3/* come to it.",
      "A policy that is active stays active. A new worker observes, and offers nothing.",
    ]);
  });

  it("may take all files along, or a folder of them, if somebody says so", () => {
    expect(planWith(routes("www.example.com/*"), true).faults).toEqual([]);
    expect(planWith(routes("www.example.com/static/*", OWN), true).faults).toEqual([]);
  });

  it("finds the way to its API by a star, and does not care for capitals", () => {
    const plan = planWith(routes("www.Example.com/a/*", "*.example.com/_h3/*"));
    expect([plan.faults, plan.hosts]).toEqual([[], ["www.example.com"]]);
  });

  it("says that nobody comes to it without a route", () => {
    const { faults, says, hosts } = planWith("");
    expect([faults, hosts]).toEqual([[], []]);
    expect(says).toContain(
      "wrangler.toml has no route, so no visitor of a site of yours comes to it. Routes of earlier deployments stay.",
    );
  });
});

describe("warningsIn", () => {
  it("finds each warning, and nothing else", () => {
    const output = [
      " wrangler 4.90.0",
      "\u001B[33m\u25B2 \u001B[43;33m[\u001B[43;30mWARNING\u001B[43;33m]\u001B[0m \u001B[1mProcessing wrangler.toml configuration:\u001B[0m",
      "",
      '    - Unexpected fields found in vars field: "x"',
      "",
      "Total Upload: 500 KiB",
      "\u25B2 [WARNING] Another one",
      "",
      "--dry-run: exiting now.",
    ].join("\n");
    expect(warningsIn(output)).toEqual([
      'Processing wrangler.toml configuration: - Unexpected fields found in vars field: "x"',
      "Another one",
    ]);
    expect(warningsIn("Total Upload: 500 KiB")).toEqual([]);
  });
});
