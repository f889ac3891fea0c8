import type { Command } from "./command.ts";
import { findEndpoint } from "./endpoint.ts";
import { misused } from "./failure.ts";

export const DOCTOR: Command = {
  name: "doctor",
  usage: "[URL] [--path PATH] [--resolver URL]",
  summary: "Look at a live site from outside: do the worker's answers reach browsers?",
  details: `Asks the worker for an offer, for clear and for nothing, both in Alt-Svc and by a marker of which a
rule of the zone makes Alt-Svc, and compares what it sent with what came. Then looks at a page
(--path names it), its files and an error, at DNS (--resolver names a server of DNS over HTTPS) and
at the certificate's root, and opens a QUIC connection. Where ASSETS names a host, looks at the page's
files there as well. Says what Chromium and Firefox will do, and what to do next. It changes nothing.
With a token of Cloudflare's API that may read (CLOUDFLARE_API_TOKEN) it also looks at the zone.

Ends with 1 if Chromium would not do what the worker asks of it, with 6 if that cannot be told.`,
  options: ["path", "resolver"],
  words: [0, 1],
  async run(call) {
    const { path = "/", resolver, ...options } = call.options;
    const [word] = call.words;
    if (word !== undefined && options.url !== undefined) throw misused("The URL is there twice.");
    const endpoint = findEndpoint({ ...options, ...(word !== undefined && { url: word }) }, call.io);
    if (call.io.stderr.isTTY === true) call.io.stderr.write(`Looking at ${endpoint.origin} ...\n`);
    // Only here is the contract needed.
    const [{ examine }, { lookAt }] = await Promise.all([import("./doctor-examine.ts"), import("./doctor-look.ts")]);
    const looking = await lookAt(endpoint);
    try {
      return await examine(looking, endpoint, call, path, resolver);
    } finally {
      looking.close();
    }
  },
};
