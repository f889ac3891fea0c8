/** How far into a page the place for the tag is looked for, bytes. */
export const PROLOGUE_MAX_BYTES = 16_384;

/** Attributes, with values in quotes or without (HTML, section 13.1.2.3). */
const ATTRIBUTES = String.raw`(?:\s+[^\s=>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?)*\s*`;
/** A comment (`<!-->` is a whole one), a doctype, or the tag of the root element, with what stands before it. */
const BEFORE_HEAD = new RegExp(String.raw`^\s*(?:<!--(?:-?>|[^]*?--!?>)|<!doctype[^>]*>|<html${ATTRIBUTES}>)`, "i");
const HEAD = new RegExp(String.raw`^\s*<head${ATTRIBUTES}>`, "i");
/** What stands before an element of a head whose own tag was left out, as HTML allows (section 13.1.2.4). */
const BEFORE_ELEMENT = /^\s*(?=<(?:meta|title|link|style|script|base)[\s>/])/i;
/** What could still become one of the above. */
const UNFINISHED = /^\s*(?:<[^>]{0,20}|<!--[^]*|<!doctype[^>]*|<html\s[^]*|<head\s[^]*)?$/i;

/**
 * Where in a page the tag belongs: at the beginning of its head. There the page's own text decides nothing about it: a `base`
 * comes later, and no script or comment is open. `later`: what is there so far does not say. `nowhere`: this is no page that
 * begins as pages do.
 *
 * @param text The page from its beginning, a character for each byte. In every encoding that can be told from it (all but
 *   UTF-16, which looks like nothing here), the characters of tags are these bytes.
 */
export function tagPlace(text: string): number | "later" | "nowhere" {
  // A byte order mark of UTF-8.
  let at = text.startsWith("\u00EF\u00BB\u00BF") ? 3 : 0;
  let isDocument = false;
  for (;;) {
    const rest = text.slice(at);
    const head = HEAD.exec(rest);
    if (head !== null) return at + head[0].length;
    const element = BEFORE_ELEMENT.exec(rest);
    if (isDocument && element !== null) return at + element[0].length;
    const before = BEFORE_HEAD.exec(rest);
    if (before === null) return UNFINISHED.test(rest) && text.length < PROLOGUE_MAX_BYTES ? "later" : "nowhere";
    isDocument ||= !/^\s*<!--/.test(before[0]);
    at += before[0].length;
  }
}
