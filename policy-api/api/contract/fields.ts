import { z } from "@hono/zod-openapi";
import type { Reader } from "../../decision/parse.ts";
import { type Policy, readPolicy } from "../../decision/policy.ts";
import { TRANSPORTS } from "../../decision/sample.ts";

/** An object with exactly these fields. */
export const strict = z.strictObject;

/** A schema that reads with a reader of core. Its faults are core's, and the document shows core's bounds. */
function core<T>(reader: Reader<T>, name: string): z.ZodType<T> {
  return z
    .unknown()
    .transform((value, context) => {
      const faults: Parameters<Reader<T>>[2] = [];
      const read = reader(value, "", faults);
      for (const { pointer, message, relation } of faults)
        context.addIssue({ code: "custom", message, params: { pointer, relation } });
      return faults.length > 0 ? z.NEVER : read;
    })
    .openapi(name, { ...reader.schema, type: "object" });
}

const MAX = Number.MAX_SAFE_INTEGER;

export const policy = core<Policy>(readPolicy, "Policy");
export const versionNumber = z.int().min(0).max(MAX).openapi({ example: 3 });
export const note = z
  .string()
  .max(1000)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must have no control characters")
  .openapi({
    // JSON Schema has no flags, so the document needs a pattern without one. JSON has no lone surrogates anyhow.
    pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`,
    example: "new gains, measured on the new servers",
  });
export const isoTime = z.iso.datetime({ offset: true }).openapi({ example: "2026-11-21T10:00:00.000Z" });
export const transport = z.enum(TRANSPORTS).openapi({ description: "tcp: HTTP/1.1 and 2; quic: HTTP/3" });
export const address = z.union([z.ipv4(), z.ipv6()], { error: "must be an IPv4 or IPv6 address" }).openapi({
  // Without this the document would say `ip`, which is not a format of JSON Schema.
  anyOf: [
    { type: "string", format: "ipv4" },
    { type: "string", format: "ipv6" },
  ],
  description: "An IPv4 or IPv6 address. The worker hashes it before it looks anything up.",
  example: "192.0.2.7",
});
export const port = z.int().min(1).max(65_535);
export const share = z.number().min(0).max(1);
export const rttMs = z.number().min(0).max(3_600_000);
export const deliveryRateBps = z
  .number()
  .min(0)
  .max(1.25e13)
  .openapi({ description: "Bytes per second", example: 25_000_000 });
export const lossRatio = z.number().min(0).max(1).openapi({ example: 0.01 });
export const path = z.string().min(1).max(8_000).regex(/^\//, "must begin with /");
export const asn = z.int().min(0).max(4_294_967_295);
export const country = z.string().regex(/^[A-Z]{2}$/, "must be a country code such as JP");

/** A whole number in a path or a query. z.coerce would take an empty text and `0x1` as numbers. */
export function wholeText(minimum: number, maximum: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))
    .openapi({ type: "integer", minimum, maximum });
}

export const versionInPath = wholeText(0, MAX);

/** The query of a list, which comes in pages, newest first. */
export const pageQuery = strict({
  limit: wholeText(1, 100).default(20).openapi({ default: 20 }),
  before: wholeText(0, MAX)
    .optional()
    .openapi({ description: "Only numbers below this one: `next` of the previous page" }),
});

export const next = versionNumber
  .nullable()
  .openapi({ description: "`before` for the next page; null on the last page" });
