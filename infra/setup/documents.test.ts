import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";

/** Not what is installed, built, recorded or dated, nor what has its links where it stands alone (infra/e2e/deploying.test.ts). */
const APART = ["node_modules", "dist", "bench/results", "target", "cloudflare/template"];
const files = globSync("**/*", {
  cwd: ROOT,
  exclude: (path) => APART.some((folder) => path === folder || path.endsWith(`/${folder}`)),
});
/** Where people read. What reports and pages are made of has its links from elsewhere. */
const documents = files.filter((file) => /^(?:[^/]+|docs\/.+|.+\/README)\.md$/.test(file) && file !== "CHANGELOG.md");
/** CONTRIBUTING.md has its reader make this folder. */
const EXAMPLE = "bench/experiments/jitter/";

/** A file of this project's kinds, by its path or its name. */
const NAMED = /`([\w.-]*[\w-](?:\/[\w.-]+)*\.(?:ts|mjs|go|rs|capnp|service|sysusers))`/g;
const LINK = /\]\(([^)#:]+)(?:#[^)]*)?\)/g;

it.each(documents)("every file that %s names is there", (document) => {
  const text = readFileSync(join(ROOT, document), "utf8");
  const named = [...text.matchAll(NAMED)].map(([, name = ""]) => name);
  const gone = named.filter(
    (name) => !name.startsWith(EXAMPLE) && !files.some((file) => file === name || file.endsWith(`/${name}`)),
  );
  const links = [...text.matchAll(LINK)].map(([, link = ""]) => link);
  const broken = links.filter((link) => !existsSync(join(ROOT, dirname(document), link)));
  expect([gone, broken]).toEqual([[], []]);
});

/** The heading's anchor, as GitHub makes it. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");

it.each(documents)("every section that %s links to is there", (document) => {
  const text = readFileSync(join(ROOT, document), "utf8");
  const broken = [...text.matchAll(/\]\(([^):#]*\.md)?#([^)]*)\)/g)].filter(([, link, section]) => {
    const headings = readFileSync(link ? join(ROOT, dirname(document), link) : join(ROOT, document), "utf8").matchAll(
      /^#+ (.*)$/gm,
    );
    return ![...headings].some(([, heading = ""]) => anchor(heading) === section);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});
