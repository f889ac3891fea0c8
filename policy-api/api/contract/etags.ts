import { z } from "@hono/zod-openapi";

/** Either * or entity tags (RFC 9110 section 8.8.3). */
const TAGS = String.raw`\*|(W/)?"[!#-~]*"([ \t]*,[ \t]*(W/)?"[!#-~]*")*`;
const MESSAGE = 'must be * or entity tags such as "r3"';

/** An If-Match or If-None-Match that a caller may leave out. An empty one counts as left out, as in workerd. */
export const optionalTags = z
  .string()
  .regex(new RegExp(`^(${TAGS})?$`), MESSAGE)
  .optional();

/** Headers of a call that changes the activation (RFC 9110 section 13.1.1). */
export const ifMatch = z.object({
  // Optional here: a call without it gets 428 (RFC 6585), which says more than 400.
  "if-match": z
    .string()
    .regex(new RegExp(`^(${TAGS})$`), MESSAGE)
    .optional()
    .openapi({
      description: "The ETag of what the call changes; * for any",
      example: "*",
      param: { required: true },
    }),
});

/** Headers of a call that reads what has an ETag. */
export const ifNoneMatch = z.object({
  "if-none-match": optionalTags.openapi({ description: "The ETag of the caller's copy", example: '"r3"' }),
});

/** Headers of a reply. */
export const etagged = z.object({
  ETag: z
    .string()
    .regex(/^"[rv]\d+"$/)
    .openapi({ description: "For If-Match and If-None-Match", example: '"r3"' }),
});

/** The reply to a read whose If-None-Match holds. */
export const notModified = { description: "The caller's copy is current (If-None-Match)", headers: etagged };
