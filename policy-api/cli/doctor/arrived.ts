import { listOf } from "./heard.ts";

/** What became of the worker's answer on its way to a browser. */
export type Arrived = "as sent" | "dropped" | "replaced" | "appended to" | "made up";

/**
 * Compares what the worker sent with what came. `made up`: it sent nothing, and something came. Pure.
 *
 * @param sent The value that Alt-Svc is to have. Null: none.
 * @param came The values of Alt-Svc.
 */
export function arrived(sent: string | null, came: readonly string[]): Arrived {
  const parts = listOf(came);
  if (parts.length === 0) return sent === null ? "as sent" : "dropped";
  if (sent === null) return "made up";
  if (!parts.includes(sent)) return "replaced";
  return parts.length === 1 ? "as sent" : "appended to";
}
