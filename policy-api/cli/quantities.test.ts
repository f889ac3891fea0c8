import { expect, it } from "vitest";
import { agoText, bytes, counted, madeText, milliseconds, percent, rate, timeText } from "./quantities.ts";

const NOW = Date.parse("2026-11-21T10:00:00Z");

it.each([
  [percent(0.05), "5 %"],
  [percent(0.0123), "1.23 %"],
  [percent(-0.2), "-20 %"],
  [percent(0.07), "7 %"],
  [milliseconds(0.123), "0.123 ms"],
  [milliseconds(1_234.5), "1,235 ms"],
  [milliseconds(22_500), "22.5 s"],
  [rate(25e6), "200 Mbit/s"],
  [bytes(1), "1 byte"],
  [bytes(2_000), "2,000 bytes"],
  [bytes(20_000), "20 kB"],
  [bytes(1e6), "1 MB"],
  [counted(1, "rule"), "1 rule"],
  [counted(1_200, "rule"), "1,200 rules"],
  [timeText("2026-11-21T10:00:00.999Z"), "2026-11-21T10:00:00Z"],
  [timeText("1970-01-01T00:00:00.000Z"), "-"],
  [timeText("yesterday"), "-"],
  [agoText("2026-11-21T09:59:48Z", NOW), "12 s ago"],
  [agoText("2026-11-21T09:56:59Z", NOW), "3 min ago"],
  [agoText("2026-11-20T10:00:01Z", NOW), "23 h ago"],
  [agoText("2026-11-11T10:00:00Z", NOW), "10 d ago"],
  [agoText("2026-11-21T10:00:05Z", NOW), "just now"],
  [agoText("never", NOW), "-"],
  [madeText("deploy", "2026-11-21T09:56:59Z", "calm", NOW), "by deploy, 3 min ago: calm"],
  [madeText("initial", "1970-01-01T00:00:00.000Z", null, NOW), "by initial"],
])("%s", (text, expected) => {
  expect(text).toBe(expected);
});
