import { expect, it } from "vitest";
import { congestionText } from "./congestion-text.ts";

it.each(["bbr", "dctcp"])("nothing is to be changed where TCP has %s", (name) => {
  expect(congestionText(name)).toBe(`and sends over TCP with ${name}.`);
});

it.each(["cubic", "reno"])("where TCP has %s, it says what to type", (name) => {
  const text = congestionText(name);
  expect(text).toContain(`over TCP with ${name}.`);
  expect(text).toContain(`Your TCP is ${name}: on lossy and distant paths`);
  expect(text).toContain('modprobe tcp_bbr; sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic bbr"');
});
