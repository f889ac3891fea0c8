import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assetTags } from "./asset-tags.ts";

const PAGE = new URL("https://www.test/shop/page?a=1");
const ASSETS = { origin: "https://files.test:8443", paths: ["/static/", "/shop/img"] };
const THERE = ASSETS.origin;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array, encoding = "utf-8"): string => new TextDecoder(encoding).decode(bytes);
const joined = (pieces: readonly Uint8Array[]): Uint8Array => Uint8Array.from(pieces.flatMap((piece) => [...piece]));

/** What becomes of a page that comes in these pieces. */
function passed(pieces: readonly Uint8Array[], page = PAGE): Uint8Array {
  const change = assetTags(page, ASSETS);
  return joined([...pieces.map((piece) => change.write(piece)), change.end()]);
}

function changed(page: string): string {
  return textOf(passed([bytesOf(page)]));
}

describe("names files at the other host", () => {
  it.each([
    ["an image", `<img src="/static/a.png">`, `<img src="${THERE}/static/a.png">`],
    ["in single quotes", `<IMG alt=x SRC='/static/a.png'/>`, `<IMG alt=x SRC='${THERE}/static/a.png'/>`],
    ["without quotes", `<img src=/static/a.png alt>`, `<img src=${THERE}/static/a.png alt>`],
    ["with letters beyond ASCII", `<img src="/static/é.png">`, `<img src="${THERE}/static/é.png">`],
    ["with references", `<img src="/static/a?b=1&amp;c=&#39;">`, `<img src="${THERE}/static/a?b=1&amp;c=&#39;">`],
    ["beside the page", `<img src="img/a.png">`, `<img src="${THERE}/shop/img/a.png">`],
    ["from above the page", `<img src="../static/a.png">`, `<img src="${THERE}/shop/../static/a.png">`],
    ["with the site's name", `<img src="https://www.test/static/a">`, `<img src="${THERE}/static/a">`],
    ["without a scheme", `<img src="//www.test/static/a">`, `<img src="${THERE}/static/a">`],
    ["a script", `<script src="/static/a.js" defer></script>`, `<script src="${THERE}/static/a.js" defer></script>`],
    [
      "a style sheet",
      `<link href="/static/a.css" rel=stylesheet>`,
      `<link href="${THERE}/static/a.css" rel=stylesheet>`,
    ],
    [
      "what is preloaded",
      `<link rel=preload as=image href="/static/a" imagesrcset="/static/a 1x">`,
      `<link rel=preload as=image href="${THERE}/static/a" imagesrcset="${THERE}/static/a 1x">`,
    ],
    [
      "a set",
      `<source srcset="/static/a,b.png 1x, /other 2x,/static/c 3x"><img srcset="/static/a, /static/b">`,
      `<source srcset="${THERE}/static/a,b.png 1x, /other 2x,${THERE}/static/c 3x"><img srcset="${THERE}/static/a, ${THERE}/static/b">`,
    ],
    [
      "a picture, and one after a picture whose image needs CORS",
      `<picture><source srcset=/static/a><img src=/static/b></picture><source srcset=/other><img crossorigin><img src=/static/c>`,
      `<picture><source srcset=${THERE}/static/a><img src=${THERE}/static/b></picture><source srcset=/other><img crossorigin><img src=${THERE}/static/c>`,
    ],
    [
      "a picture that never comes to its image",
      `<img src=/static/a><source srcset=/static/b>${"-".repeat(66_000)}<img src=/static/c>`,
      `<img src=${THERE}/static/a><source srcset=/static/b>${"-".repeat(66_000)}<img src=${THERE}/static/c>`,
    ],
    [
      "below a base",
      `<base href="/static/x/"><img src=a.png>`,
      `<base href="/static/x/"><img src=${THERE}/static/x/a.png>`,
    ],
    ["the first of two", `<img src=/static/a src=/static/b>`, `<img src=${THERE}/static/a src=/static/b>`],
    [
      "text beside it",
      `<p title="<img src=/static/a>">ü<img src=/static/a>`,
      `<p title="<img src=/static/a>">ü<img src=${THERE}/static/a>`,
    ],
    [
      "where the page's policy names it",
      `<meta http-equiv="Content-Security-Policy" content="img-src files.test:8443"><img src=/static/a>`,
      `<meta http-equiv="Content-Security-Policy" content="img-src files.test:8443"><img src=${THERE}/static/a>`,
    ],
  ])("%s", (_what, page, expected) => {
    expect(changed(page)).toBe(expected);
  });

  it.each([
    ["other paths", `<img src="/other/a.png"><img src="a.png"><img src="">`],
    [
      "other sites",
      `<img src="https://other.test/static/a"><img src="//other.test/static/a"><img src="/\\other.test/static/a">`,
    ],
    ["other schemes", `<img src="data:image/png,/static/"><img src="https:static/a">`],
    ["a space before it", `<img src=" /static/a">`],
    ["links", `<a href="/static/a">a</a><form action="/static/b"></form>`],
    ["frames and objects", `<iframe src="/static/a"></iframe><embed src="/static/a">`],
    ["modules", `<script type=module src="/static/a.js"></script>`],
    ["data in scripts", `<script type="application/json" src="/static/a"></script>`],
    [
      "CORS and integrity",
      `<script crossorigin src=/static/a></script><link rel=stylesheet integrity=sha256-a href=/static/a>`,
    ],
    ["icons and fonts", `<link rel=icon href=/static/a><link rel=preload as=font crossorigin href=/static/a>`],
    ["text in scripts", `<script>document.write('<img src="/static/a">')</script>`],
    [
      "text and comments",
      `<!-- <img src=/static/a> --><textarea><img src=/static/a></textarea><style><img src=/static/a></style>`,
    ],
    ["a tag that does not end", `<img src="/static/a"`],
    [
      "after a policy that names it for something else",
      `<meta http-equiv=content-security-policy content="script-src 'self'; report-uri ${THERE}"><script src=/static/a></script>`,
    ],
    [
      "after a policy with references",
      `<meta http-equiv="Content-Security-Policy" content="img-src &#42;"><img src=/static/a>`,
    ],
    ["media", `<audio crossorigin><source src=/static/a></audio><video><source src=/static/b></video>`],
    [
      "a picture whose image needs CORS",
      `<picture><source srcset=/static/a><source srcset="/static/b 2x"><img crossorigin src=/static/c></picture>`,
    ],
    [
      "after a policy without it",
      `<meta http-equiv="content-security-policy" content="img-src 'self'"><img src=/static/a>`,
    ],
    ["below a base elsewhere", `<base href="https://other.test/"><img src="/static/a">`],
    ["below a base in letters beyond ASCII", `<base href="/é/"><img src="/static/a">`],
    ["below a base that is none", `<base href="https://["><img src="/static/a">`],
  ])("but not %s", (_what, page) => {
    expect(changed(page)).toBe(page);
  });

  it("but not in a tag of more than 64 KB, and again after it", () => {
    const [long, change] = [`<img alt="${"a".repeat(70_000)}" src=/static/a>`, assetTags(PAGE, ASSETS)];
    const pieces = [long.slice(0, 69_000), long.slice(69_000), "<img src=/static/b>"].map((piece) => bytesOf(piece));
    const out = textOf(joined([...pieces.map((piece) => change.write(piece)), change.end()]));
    expect(out).toBe(`${long}<img src=${THERE}/static/b>`);
  });
});

it("writes nothing of the page's own address that could end an attribute", () => {
  const page = new URL(`https://www.test/shop/img/x' "onerror=alert(1)>\`&quot;<\ny/page`);
  for (const quote of ["'", '"', ""]) {
    const out = textOf(passed([bytesOf(`<img src=${quote}a.png${quote}>`)], page));
    expect(out).toBe(
      `<img src=${quote}${THERE}/shop/img/x%27%20%22onerror=alert(1)%3E%60&amp;quot;%3Cy/a.png${quote}>`,
    );
  }
});

const SNIPPETS = [
  `<img src="/static/a.png">`,
  `<img src='/static/a' srcset="/static/b 1x, /c 2x">`,
  `<img alt=">" src=/static/a>`,
  `<script src=/static/a></script>`,
  `<script>"<img src=/static/a>"</script>`,
  `<!-- <img src=/static/a> -->`,
  `<base href=/static/>`,
  `<link rel=stylesheet href=a.css>`,
  "text < and <more",
  `<img src="/static/a`,
  `<picture><source srcset=/static/a><source srcset="/static/b 1x">`,
  `<img crossorigin src=/static/c>`,
  `<meta http-equiv=content-security-policy content="script-src 'self'">`,
  `<svg><image href="/static/a"/></svg>`,
  "é\u0000<",
];

it("does the same wherever a page is cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...SNIPPETS), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
      (snippets, sizes) => {
        const page = bytesOf(snippets.join(""));
        const pieces: Uint8Array[] = [];
        for (let at = 0, i = 0; at < page.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          pieces.push(page.subarray(at, at + size));
          at += size;
        }
        expect(textOf(passed(pieces), "latin1")).toBe(textOf(passed([page]), "latin1"));
      },
    ),
  );
});

it("adds the other host and changes nothing else, whatever bytes come", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...SNIPPETS), fc.string()), { maxLength: 10 }), (parts) => {
      const page = parts.join("").replaceAll(THERE, "");
      expect(changed(page).replaceAll(`${THERE}/static/a.css`, "a.css").replaceAll(THERE, "")).toBe(page);
    }),
  );
});
