import { Tokenizer } from "htmlparser2";
import { type BodyChange, concatenated } from "../pages/change-body.ts";
import { allows, type Load, type Policy, readPolicies } from "../pages/csp.ts";
import type { Assets } from "../settings.ts";

/** A tag that is longer stays as it is, bytes: so much of a page may wait for the end of a tag. */
const TAG_MAX_BYTES = 65_536;

/** Where an attribute's value is in the page, bytes from its beginning. */
interface Span {
  readonly from: number;
  readonly to: number;
}
interface Tag {
  readonly name: string;
  /** Where it begins. */
  readonly from: number;
  readonly attributes: Map<string, Span>;
}
/** What comes in the place of the bytes there. */
interface Edit extends Span {
  readonly text: string;
}

/** Tags that name files, and what changes how a page's files are named. */
const TAGS: ReadonlySet<string> = new Set(["img", "source", "script", "link", "base", "meta"]);
const NAME_MAX_BYTES = Math.max(...[...TAGS].map((name) => name.length));
const LESS_THAN = 0x3c;
/** Types of `script` that browsers run as classic scripts. Modules are asked for with CORS. */
const CLASSIC = /^(?:|(?:text|application)\/(?:java|ecma)script)$/i;
const PRELOADED: ReadonlyMap<string, Load["kind"]> = new Map([
  ["image", "image"],
  ["script", "script"],
  ["style", "style"],
]);

/**
 * Lets a page name its files at another host, as it passes: in `src` and `srcset` of images, `src` of scripts, and `href` of style
 * sheets and of what is preloaded for these. Nothing else changes. A file keeps its host if it needs CORS, has an `integrity`, or if a
 * policy does not let the page load it from the other host.
 *
 * A page is read as bytes: in every encoding that browsers know but UTF-16, which looks like text without tags here, the characters
 * of tags and paths are these bytes.
 *
 * @param page The address of the page.
 * @param policies Those of its headers. Those in the page itself are added when they come: they are for what comes after them.
 */
export function assetTags(page: URL, { origin, paths }: Assets, policies: readonly Policy[] = []): BodyChange {
  let inForce = policies;
  /** A character for each byte. */
  const decoder = new TextDecoder("windows-1252");
  const encoder = new TextEncoder();
  let base = page;
  let hasBase = false;
  /** Bytes that came and were not given out yet, and where they begin. */
  let kept = new Uint8Array();
  let keptFrom = 0;
  let tag: Tag | undefined;
  let attributeName: string | undefined;
  let value: Span | undefined;
  let edits: Edit[] = [];
  /** Where the first `source` is whose `img` has not come: that one says whether the file needs CORS (HTML, section 4.8.2). */
  let pictureFrom: number | undefined;
  /** From here on the page stays as it is. */
  let isOver = false;

  const textAt = ({ from, to }: Span): string => decoder.decode(kept.subarray(from - keptFrom, to - keptFrom));
  const nothing = (): void => undefined;
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname: (start, end) => {
        // Of a name whose beginning has been given out more came than any of these has.
        const name = start < keptFrom ? "" : textAt({ from: start, to: end }).toLowerCase();
        tag = TAGS.has(name) ? { name, from: start, attributes: new Map() } : undefined;
      },
      onattribname: (start, end) => {
        attributeName = tag && textAt({ from: start, to: end }).toLowerCase();
        value = undefined;
      },
      onattribdata: (start, end) => {
        value = { from: value?.from ?? start, to: end };
      },
      onattribend: (_quote, end) => {
        // Of an attribute that stands there twice, the first one counts. One without a value is there all the same.
        if (tag !== undefined && attributeName !== undefined && !tag.attributes.has(attributeName))
          tag.attributes.set(attributeName, value ?? { from: end, to: end });
      },
      onopentagend: conclude,
      onselfclosingtag: conclude,
      onattribentity: nothing,
      oncdata: nothing,
      onclosetag: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onprocessinginstruction: nothing,
      ontext: nothing,
      ontextentity: nothing,
    },
  );

  /** A tag is whole. */
  function conclude(): void {
    if (tag === undefined) return;
    const { name, from: begin, attributes } = tag;
    tag = undefined;
    if (isOver) return;
    const has = (attribute: string): boolean => attributes.has(attribute);
    const given = (attribute: string): string | undefined => {
      const span = attributes.get(attribute);
      return span && textAt(span);
    };
    const valueOf = (attribute: string): string => given(attribute)?.trim().toLowerCase() ?? "";
    if (name === "img") endPicture(begin, has("crossorigin"));
    if (name === "meta") {
      if (valueOf("http-equiv") !== "content-security-policy") return;
      const content = given("content") ?? "";
      inForce = [...inForce, ...readPolicies(content)];
      // Character references are not read here.
      isOver = content.includes("&");
    } else if (name === "base") {
      const href = given("href");
      if (href === undefined || hasBase) return;
      hasBase = true;
      // Characters beyond ASCII are in the page's encoding, which is not known here.
      if (/^[ -~]*$/.test(href) && !href.includes("&") && URL.canParse(href, page.href)) base = new URL(href, page);
      else isOver = true;
    } else if (!has("crossorigin") && !has("integrity")) {
      const rel = valueOf("rel").split(/\s+/);
      const changes: Record<string, readonly [Load["kind"] | undefined, ...string[]]> = {
        img: ["image", "src", "srcset"],
        // Its src is a medium.
        source: ["image", "srcset"],
        script: [CLASSIC.test(valueOf("type")) ? "script" : undefined, "src"],
        link: [
          rel.includes("stylesheet") ? "style" : rel.includes("preload") ? PRELOADED.get(valueOf("as")) : undefined,
          "href",
          "imagesrcset",
        ],
      };
      const [kind, ...named] = changes[name] ?? [];
      if (kind === undefined) return;
      for (const attribute of named) {
        const span = attributes.get(attribute);
        if (span === undefined) continue;
        const text = textAt(span);
        const addresses = attribute.endsWith("srcset") ? addressesIn(text) : [{ at: 0, address: text }];
        for (const { at, address } of addresses) {
          const prefix = prefixOf(address, kind, given("nonce"));
          if (prefix === undefined) continue;
          const from = span.from + at;
          if (name === "source") pictureFrom ??= from;
          edits.push({ from, to: from + prefix.instead, text: prefix.text });
        }
      }
    }
  }

  /** The picture's `img` is at `end`, or has not come until there. Its sources keep their host where it needs CORS, or is too far. */
  function endPicture(end: number, needsCors: boolean): void {
    const from = pictureFrom ?? end;
    if (needsCors || end - from > TAG_MAX_BYTES) edits = edits.filter((edit) => edit.from < from);
    pictureFrom = undefined;
  }

  /**
   * What an address must begin with to be at the other host, and instead of how many of its bytes. Undefined: it stays. The rest stays as
   * it is, and what browsers make of it theirs.
   */
  function prefixOf(
    address: string,
    kind: Load["kind"],
    nonce: string | undefined,
  ): { readonly text: string; readonly instead: number } | undefined {
    // Not what begins with a space, a character reference or a byte that is no character of ASCII.
    if (!/^[\w./~%-]/.test(address) || !URL.canParse(address, base.href)) return undefined;
    const url = new URL(address, base);
    if (url.origin !== page.origin || !paths.some((path) => url.pathname.startsWith(path))) return undefined;
    const there = { kind, nonce, url: inForce.length === 0 ? url : new URL(url.pathname + url.search, origin) };
    if (!inForce.every((policy) => allows(policy, page, there))) return undefined;
    if (/^\/(?![/\\])/.test(address)) return { text: origin, instead: 0 };
    for (const own of [page.origin, `//${page.host}`])
      if (address.startsWith(`${own}/`)) return { text: origin, instead: own.length };
    // What else stands at its beginning, such as a scheme without slashes, stays.
    if (/^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(address)) return undefined;
    // A visitor chooses the page's path: nothing in it may end an attribute. A path has the other quote, spaces and `<` `>` encoded.
    const folder = base.pathname.slice(0, base.pathname.lastIndexOf("/") + 1);
    return { text: origin + folder.replaceAll("'", "%27").replaceAll("&", "&amp;"), instead: 0 };
  }

  /** Gives out what was kept, up to a place. */
  function upTo(end: number): Uint8Array {
    const parts: Uint8Array[] = [];
    let at = keptFrom;
    for (const { from, to, text } of edits.sort((a, b) => a.from - b.from)) {
      if (from >= end) break;
      parts.push(kept.subarray(at - keptFrom, from - keptFrom), encoder.encode(text));
      at = to;
    }
    edits = edits.filter(({ from }) => from >= end);
    parts.push(kept.subarray(at - keptFrom, end - keptFrom));
    kept = kept.slice(end - keptFrom);
    keptFrom = end;
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : concatenated(parts);
  }

  /** Where the bytes begin that must wait: for the end of a tag, or of its name. */
  function waitingFrom(): number {
    const end = keptFrom + kept.length;
    if (isOver) return end;
    if (tag !== undefined && end - tag.from > TAG_MAX_BYTES) tag = undefined;
    if (pictureFrom !== undefined && end - pictureFrom > TAG_MAX_BYTES) endPicture(end, true);
    if (pictureFrom !== undefined) return pictureFrom;
    if (tag !== undefined) return tag.from;
    const mayOpen = kept.lastIndexOf(LESS_THAN);
    return mayOpen >= 0 && kept.length - mayOpen <= NAME_MAX_BYTES + 1 ? keptFrom + mayOpen : end;
  }

  return {
    write: (piece) => {
      if (isOver && kept.length === 0) return piece;
      kept = kept.length === 0 ? piece.slice() : concatenated([kept, piece]);
      try {
        if (!isOver) tokenizer.write(decoder.decode(piece));
      } catch {
        [isOver, edits] = [true, []];
      }
      return upTo(waitingFrom());
    },
    end: () => upTo(keptFrom + kept.length),
  };
}

/** The addresses of a set (HTML, section 4.8.4.3), and where they begin in it. */
function addressesIn(set: string): { readonly at: number; readonly address: string }[] {
  const found: { at: number; address: string }[] = [];
  const next = /[\s,]*(\S+)/y;
  for (let match = next.exec(set); match !== null; match = next.exec(set)) {
    const [, text = ""] = match;
    const address = text.replace(/,+$/, "");
    found.push({ at: next.lastIndex - text.length, address });
    // After a comma at its end no descriptor comes, but the next address.
    const comma = address === text ? set.indexOf(",", next.lastIndex) : next.lastIndex - 1;
    if (comma < 0) break;
    next.lastIndex = comma + 1;
  }
  return found;
}
