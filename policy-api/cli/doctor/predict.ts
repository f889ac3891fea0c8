import type { Browser, Heard } from "./heard.ts";

/** The answers that a policy gives. */
export const ANSWERS = ["offer", "nothing", "clear"] as const;
export type AnswerKind = (typeof ANSWERS)[number];

/** What came from a site, asked from outside. Undefined is what is not known. */
export interface Site {
  /** What a page says to browsers, for each answer that the worker was asked to give. */
  readonly pages: Readonly<Record<AnswerKind, Heard>>;
  /** What the files of a page say together: an offer of one counts, then what takes offers back. Undefined: none was seen. */
  readonly files: Heard | undefined;
  /** What an error says. */
  readonly errors: Heard | undefined;
  /** Whether a DNS record offers HTTP/3 (RFC 9460: an HTTPS record with `h3` in its alpn). */
  readonly record: boolean | undefined;
  /** Whether a QUIC connection can be had. */
  readonly quic: boolean | undefined;
}

/** What a browser will do there. Null: nothing says so. */
export interface Prediction {
  /** It follows an offer: pages after it come over HTTP/3. */
  readonly offers: boolean | null;
  /** It stays on HTTP/2 while the worker offers nothing. */
  readonly withholds: boolean | null;
  /** It goes back to HTTP/2 once the worker takes an offer back. */
  readonly takesBack: boolean | null;
  /** All three. False where one of them fails, whichever it is: a zone's own offer withholds nothing, or without QUIC offers nothing. */
  readonly works: boolean | null;
}

type Known = { readonly [Field in keyof Site]: Exclude<Site[Field], undefined> };

/**
 * Says what a browser does on a site, by its memory of offers. An HTTPS record offers HTTP/3 without any response, and nothing
 * takes it back. What is not known is tried in every way: where all agree, that is the answer. Pure.
 *
 * @param site As this browser reads it.
 */
export function predict(site: Site, browser: Browser = "Chromium"): Prediction {
  const all = waysToBe(site).map((way) => known(way, browser));
  const agreed = (of: (prediction: Certain) => boolean): boolean | null => {
    const [first, ...others] = new Set(all.map(of));
    return others.length === 0 ? (first ?? null) : null;
  };
  return {
    offers: agreed(({ offers }) => offers),
    withholds: agreed(({ withholds }) => withholds),
    takesBack: agreed(({ takesBack }) => takesBack),
    works: agreed(({ offers, withholds, takesBack }) => offers && withholds && takesBack),
  };
}

type Certain = Readonly<Record<"offers" | "withholds" | "takesBack", boolean>>;

function waysToBe({ pages, ...site }: Site): readonly Known[] {
  const ways = <T>(one: T | undefined, ...all: readonly T[]): readonly T[] => (one === undefined ? all : [one]);
  return ways<Heard>(site.files, "offer", "nothing").flatMap((files) =>
    ways<Heard>(site.errors, "offer", "nothing").flatMap((errors) =>
      ways(site.record, true, false).flatMap((record) =>
        ways(site.quic, true, false).map((quic) => ({ pages, files, errors, record, quic })),
      ),
    ),
  );
}

function known({ pages, files, errors, record, quic }: Known, browser: Browser): Certain {
  // Without QUIC a browser stays on HTTP/2 whatever it is offered.
  if (!quic) return { offers: false, withholds: true, takesBack: true };
  const isOffered = (before: boolean, answer: AnswerKind): boolean =>
    record || files === "offer" || errors === "offer" || after(after(before, pages[answer]), files);
  // On Firefox an offer of a file or an error that comes soon after a page's `clear` is lost, for this visit.
  const isLost = browser === "Firefox" && !record && pages.clear === "over";
  return {
    offers: isOffered(false, "offer"),
    withholds: !isOffered(false, "nothing"),
    takesBack: isLost || !isOffered(true, "clear"),
  };
}

/** Whether a browser holds an offer of HTTP/3 after a response. */
function after(before: boolean, said: Heard): boolean {
  return said === "offer" || (said === "nothing" && before);
}
