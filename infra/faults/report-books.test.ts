import { expect, it } from "vitest";
import { type Fates, judgeReports, type ReportBooks, type SentReports } from "./report-books.ts";

const SENT: SentReports = {
  fates: { "": 20, accepted: 30, unsigned: 10, oversized: 5, maybe: 2, none: 9 },
  pages: 25,
  clients: 12,
};
const FATES: Fates = { accepted: 40, replayed: 20, crowded: 3, unsigned: 12, oversized: 6, malformed: 5 };
const BOOKS: ReportBooks = {
  attacked: { fates: FATES, pages: 18 },
  replayed: { fates: { ...FATES, accepted: 47, replayed: 27 }, pages: 18, sent: 7 },
  late: { fates: { ...FATES, accepted: 47, replayed: 27, late: 7 }, pages: 15, sent: 7 },
};
const attacked = (fates: Fates, pages = 18): Partial<ReportBooks> => ({
  attacked: { fates: { ...FATES, ...fates }, pages },
});

it("finds nothing wrong with books that fit, also where the clock cannot be set", () => {
  expect(judgeReports(SENT, BOOKS)).toEqual([]);
  expect(judgeReports(SENT, { ...BOOKS, late: undefined })).toEqual([]);
});

it.each<[what: string, changes: Partial<ReportBooks>, said: RegExp]>([
  [
    "a page too many",
    { ...attacked({}, 21), replayed: { ...BOOKS.replayed, pages: 21 } },
    /^reports: 21 pages count, and there may be 12 to 20$/,
  ],
  [
    "pages that are missing",
    { ...attacked({}, 11), replayed: { ...BOOKS.replayed, pages: 11 }, late: undefined },
    /^reports: 11 pages count,/,
  ],
  ["a forged report that was accepted", attacked({ accepted: 43, unsigned: 9 }), /^reports: 9 unsigned, .* 10 to 32$/],
  [
    "more accepted than could be",
    attacked({ accepted: 51, malformed: 0, unsigned: 10, oversized: 5 }),
    /^reports: 51 were accepted, .* 27 to 50$/,
  ],
  ["an exception", attacked({ unready: 1 }), /^reports: 1 unready, and there may be 0$/],
  ["a late one too soon", attacked({ late: 1 }), /^reports: 1 late, and there may be 0$/],
  ["reports without a cause", attacked({ accepted: 35 }), /^reports: 58 were accepted or have a cause, .* 62 to 67$/],
  [
    "a replay that counts",
    { replayed: { ...BOOKS.replayed, pages: 19 } },
    /^reports: 19 pages count after the replay, and there may be 18$/,
  ],
  [
    "a replay that was not known",
    { replayed: { ...BOOKS.replayed, fates: FATES } },
    /^reports: 0 were known when they came again, .* 7$/,
  ],
  ["a late report that counts", { late: { ...BOOKS.replayed, pages: 19 } }, /^reports: 0 were late|^reports: 19 pages/],
])("finds %s", (_, changes, said) => {
  expect(judgeReports(SENT, { ...BOOKS, ...changes })[0]).toMatch(said);
});
