import type { Page, Protocol, Session } from "./plan.ts";
import { type Arm, ARM_SETUPS } from "./arm.ts";
import { documentOf } from "./browser-pages.ts";
import type { Cell } from "./cell.ts";
import { type Flow, imageBytesOf } from "./flow.ts";

/** What lies between two sessions: the edge's closing sample is with the worker after a round trip. */
const BETWEEN_SESSIONS_MS = 200;
const COLD_PAGES = 3;
/**
 * Between the pages of a visit. At a pause Linux' TCP halves its window once per retransmission timeout, down to the first one, except
 * with bbr (tcp_slow_start_after_idle; RFC 9293's RTO is 0.2 to 0.6 s on the paths here). So after this time the window is as small as
 * after any longer pause, and most pauses of visits are longer.
 */
const BETWEEN_PAGES_MS = 5_000;
/** What a cell's pages hold. */
export type PageOf = Pick<Cell, "imageBytes" | "images">;

/**
 * What a client does, from an address that the server knows nothing of.
 *
 * - `download`: the image alone, from connection setup to its end (the published grid).
 * - `moved`: the image alone, from another address once half of it is there (bench/instrument/k6/session/move.go).
 * - `reused`: the image twice over one connection; the second is what is timed.
 * - `resumed`: a session that fetches a document and ends; then, timed, the image alone in a session that resumes it, with TLS
 *   session tickets and QUIC's address tokens.
 * - `early`: the same, and what is timed is asked for in 0-RTT; over QUIC alone.
 * - `trained`: an HTTP/3 session fetches the image and ends, so that the server has measured; then, timed, a session with
 *   the page, the switch if it was offered, and its images (the published evaluation). Arms whose answer does not depend
 *   on what was measured skip the first session.
 * - `trained-on-h2`: the same after an HTTP/2 session.
 * - `cold`: a first visit of three pages, each with an image of 1 MB at the most.
 * - `visit`: the page, a pause, and the page again over the same connection.
 * - `three-pages`: the page three times over one connection, with a pause after each.
 * - `return`: the page, by a client that was here and kept what the server gave it: TLS tickets, QUIC's address token.
 * - `visit-after-h2`: the same after an HTTP/2 session, for arms whose answer depends on it.
 */
export function sessionsOf(flow: Flow, arm: Arm, { imageBytes, images = 1 }: PageOf): Session[] {
  const { firstProtocol, mode } = ARM_SETUPS[arm];
  const imageOf = (bytes: number): string => `/image/${bytes}`;
  const pageWith = (bytes: number): Page => ({
    document: documentOf(bytes),
    subresources: Array.from({ length: images }, () => imageOf(bytes)),
    pauseAfterMs: 0,
  });
  const alone: Page = { document: imageOf(imageBytes), subresources: [], pauseAfterMs: 0 };
  const page = pageWith(imageBytes);
  const before = (protocol: Protocol, only: Page): Session => ({
    timed: false,
    firstProtocol: protocol,
    pages: [only],
    pauseAfterMs: BETWEEN_SESSIONS_MS,
  });
  const learns = mode === "adaptive";
  const training = (protocol: "h2" | "h3"): Session[] => (learns ? [before(protocol, alone)] : []);
  const timed = (pages: Session["pages"]): Session => ({
    timed: true,
    firstProtocol,
    pages,
    pauseAfterMs: 0,
  });
  const rested = { ...page, pauseAfterMs: BETWEEN_PAGES_MS };
  const visit = timed([rested, page]);
  switch (flow) {
    case "download":
    case "moved":
      return [timed([alone])];
    case "reused":
      return [timed([alone, alone])];
    case "resumed":
    case "early":
      return [before(firstProtocol, { ...page, subresources: [] }), timed([alone])];
    case "trained":
      return [...training("h3"), timed([page])];
    case "trained-on-h2":
      return [...training("h2"), timed([page])];
    case "cold":
      return [timed(Array.from({ length: COLD_PAGES }, () => pageWith(imageBytesOf(flow, imageBytes))))];
    case "three-pages":
      return [timed([rested, rested, page])];
    case "return":
      return [before(firstProtocol, { ...page, subresources: [] }), timed([page])];
    case "visit":
      return [visit];
    case "visit-after-h2":
      return [...training("h2"), visit];
  }
}
