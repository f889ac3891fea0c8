import { expect, it } from "vitest";
import { askRecords } from "./doctor-records.ts";

it.each(["https://localhost:8443", "https://127.0.0.1", "https://[::1]:8443"])(
  "no DNS offers HTTP/3 for this machine, and none is asked: %s",
  async (url) => {
    expect(await askRecords(new URL(url), undefined)).toEqual({
      offersH3: false,
      why: "not asked, as browsers do not for this machine",
    });
  },
);

it.each(["https://localhost:8443", "https://a.example"])("a resolver that was given is asked: %s", async (url) => {
  const { offersH3, why } = await askRecords(new URL(url), "http://127.0.0.1:9/dns-query");
  expect([offersH3, why]).toEqual([undefined, expect.stringContaining("cannot be asked")]);
});
