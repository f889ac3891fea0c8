import { type BodyChange, changeBody, concatenated, mayChangeBody } from "../pages/change-body.ts";
import { allowsReporter, hasPolicy, REPORTER_PATH } from "./csp.ts";
import { PROLOGUE_MAX_BYTES, tagPlace } from "./tag-place.ts";

const encoder = new TextEncoder();
/** A character for each byte. */
const decoder = new TextDecoder("windows-1252");

/** For a page with a Content-Security-Policy, which would need an exception for a script in the text. Browsers' load event waits for it. */
const FILE = encoder.encode(`<script src="${REPORTER_PATH}" async></script>`);
/** How long a page may take before its reporter comes, milliseconds: who leaves a slow page later than this still tells of it. */
const LATEST_MS = 3_000;
/** Loads the reporter after the load event, so that no page waits for it. */
const LOADER = encoder.encode(
  `<script>{let h=0;const l=()=>{if(!h){h=document.createElement("script");h.src="${REPORTER_PATH}";document.head.append(h)}};` +
    `addEventListener("load",l);setTimeout(l,${LATEST_MS})}</script>`,
);

/**
 * Whether the tag may be put into this page. Not into a body that is compressed: the runtime would compress it anew, and
 * then holds back what the origin has already sent.
 */
export function mayInject(response: Response): boolean {
  const { headers } = response;
  return !headers.has("content-encoding") && mayChangeBody(response) && allowsReporter(headers);
}

/**
 * Puts the reporter's tag into a page as it passes. Nothing is held back, and nothing else changes: if the place for the tag
 * does not show at once, the page stays as it is.
 *
 * The runtime's HTMLRewriter would read the whole page, and ends it in the middle where it finds markup that it cannot be
 * sure of, such as an `iframe` in a `select` that is not closed (workerd builds it as strict).
 *
 * @param response One whose headers may be changed.
 */
export function withTag(response: Response): Response {
  return changeBody(response, tagged(hasPolicy(response.headers) ? FILE : LOADER));
}

/** Puts a tag at its place. */
function tagged(tag: Uint8Array): BodyChange {
  let seen = "";
  let isOpen = true;
  return {
    write: (piece) => (isOpen ? withTagIn(piece) : piece),
    end: () => new Uint8Array(),
  };

  /** The tag's place may be in this piece. What was sent before stays as it is. In one piece: each is a chunk, and a packet, of its own. */
  function withTagIn(piece: Uint8Array): Uint8Array {
    const sent = seen.length;
    seen += decoder.decode(piece.subarray(0, PROLOGUE_MAX_BYTES));
    const place = tagPlace(seen);
    isOpen = place === "later";
    const at = typeof place === "number" ? place - sent : -1;
    if (at < 0) return piece;
    return concatenated([piece.subarray(0, at), tag, piece.subarray(at)]);
  }
}
