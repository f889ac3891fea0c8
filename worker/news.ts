import { withSample } from "../policy-api/decision/connections.ts";
import { type AltSvcAnswer, withAnswer } from "../policy-api/decision/offers.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import type { AskedPage, PageNews } from "../policy-api/visitors/page-outcome.ts";

/** What an isolate learns of a client at a time. */
export interface ClientNews {
  readonly sample?: PathSample | undefined;
  readonly answer?: AltSvcAnswer | undefined;
  readonly page?: PageNews | undefined;
  /** A page of a drawn arm that was asked to report. */
  readonly decided?: AskedPage | undefined;
}

/** What an isolate knows about a client, and the object may not know. */
export interface PendingNews {
  readonly samples: readonly PathSample[];
  readonly answers: readonly AltSvcAnswer[];
  readonly decided: readonly AskedPage[];
}

export const NO_NEWS: PendingNews = { samples: [], answers: [], decided: [] };

/** Both, without what the later news makes superfluous. */
export function joined(earlier: PendingNews, later: PendingNews): PendingNews {
  if (earlier === NO_NEWS) return later;
  if (later === NO_NEWS) return earlier;
  return {
    samples: later.samples.reduce(withSample, earlier.samples),
    answers: later.answers.reduce(withAnswer, earlier.answers),
    decided: later.decided.length === 0 ? earlier.decided : [...earlier.decided, ...later.decided],
  };
}

/** One piece or a few, with what a page's connections have shown. */
export function pendingOf({ sample, answer, page, decided }: ClientNews): PendingNews {
  const own = sample === undefined ? [] : [sample];
  return {
    samples: page === undefined ? own : [...own, ...page.samples],
    answers: answer === undefined ? [] : [answer],
    decided: decided === undefined ? [] : [decided],
  };
}
