import { expect, it } from "vitest";
import { advise, type Looked } from "./advise.ts";
import type { Prediction } from "./predict.ts";

const ALL: Prediction = { offers: true, withholds: true, takesBack: true, works: true };
const NOT_BACK: Prediction = { ...ALL, withholds: false, takesBack: false, works: false };
const UNTOLD: Prediction = { ...ALL, withholds: null, works: null };
const FINE: Looked = {
  host: "www.example.com",
  current: "header",
  ways: { header: ALL, marker: NOT_BACK },
  markerArrives: true,
  othersOffer: false,
  record: false,
  quic: true,
  ownRoot: false,
  refusedPort: undefined,
  routed: undefined,
  hasRtt: true,
  isLate: false,
};
const NEITHER = { header: NOT_BACK, marker: NOT_BACK };

it.each<[string, Partial<Looked>, RegExp]>([
  ["nothing where it works", {}, /^Nothing is to be done here\./],
  ["a route where there is none", { routed: false }, /^No route leads the page/],
  ["that nothing can be decided without an RTT", { hasRtt: false }, /^The worker sees no RTT/],
  [
    "nothing of a host for files that is as it should be",
    { assets: { origin: "https://f.test", offers: false, isSame: true, isKept: false } },
    /^Nothing is to be done here\./,
  ],
  [
    "no other host for files that it does not have",
    { assets: { origin: "https://f.test", offers: undefined, isSame: false, isKept: false } },
    /^https:\/\/f\.test, which ASSETS names, does not serve the same files/,
  ],
  [
    "no host for files that browsers keep from pages",
    { assets: { origin: "https://f.test", offers: false, isSame: true, isKept: true } },
    /^https:\/\/f\.test, which ASSETS names, keeps files from other hosts' pages: browsers block them/,
  ],
  [
    "no HTTP/3 at the host for files",
    { assets: { origin: "https://f.test", offers: true, isSame: undefined, isKept: false } },
    /^https:\/\/f\.test, which ASSETS names, offers HTTP\/3/,
  ],
  ["what late look-ups mean", { isLate: true }, /^Look-ups come later/],
  [
    "HTTP/3 to be switched on where QUIC is missing",
    { ways: { header: { ...ALL, offers: false, works: false }, marker: ALL }, quic: false },
    /Switch HTTP\/3 on[^]*\nA Chromium that met this rests before it tries again: 300 s/,
  ],
  [
    "a certificate of a public authority where browsers bring no root for it",
    { ways: { header: { ...ALL, offers: false, works: false }, marker: ALL }, quic: false, ownRoot: true },
    /^The certificate is from a root that browsers do not bring[^]*\nA Chromium that met this rests/,
  ],
  [
    "an offer of a port to which Chromium goes",
    { refusedPort: 8443 },
    /^An offer leads to port 8443, and from a site's port below 1024 Chromium goes to none from 1024 on\./,
  ],
  ["no header where a record offers", { ways: NEITHER, record: true }, /DNS record/],
  ["to look at what is unknown", { ways: { ...NEITHER, header: UNTOLD }, record: undefined }, /unknown/],
  [
    "the marker where its rule is in force",
    { ways: { header: NOT_BACK, marker: ALL } },
    /^Set ACTUATOR = "marker": a rule/,
  ],
  [
    "the header where it arrives",
    { current: "marker", ways: { header: ALL, marker: { ...ALL, offers: false, works: false } } },
    /Set ACTUATOR = "header"/,
  ],
  [
    "marker and rules where there are none",
    { ways: NEITHER },
    /Set ACTUATOR = "marker", deploy, and put the rules [^]* --host www\.example\.com --out FILE/,
  ],
  ["rules alone where the marker is set", { ways: NEITHER, current: "marker" }, /marker\. Put the rules/],
  ["what to know of images", { ways: NEITHER, markerArrives: false, othersOffer: true }, /pass no worker/],
  ["all or nobody where both ways fail", { ways: NEITHER, markerArrives: false }, /on for all/],
])("advises %s", (_what, looked, expected) => {
  expect(advise({ ...FINE, ...looked }).join("\n")).toMatch(expected);
});
