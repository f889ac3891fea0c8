import type { Network } from "../../model/cell.ts";

type Profile = NonNullable<Network["profile"]>;

/** How a path that repeats itself goes on from a moment of it: what it is then, and what changes after. */
export function profileFrom(
  { rateMbps, delayMs, profile = [] }: Pick<Network, "rateMbps" | "delayMs" | "profile">,
  repeatMs: number,
  offsetMs: number,
): { rateMbps: number; delayMs: number; profile: Profile } {
  const states = [{ atMs: 0, rateMbps, delayMs }, ...profile];
  const now = states.findLast(({ atMs }) => atMs <= offsetMs) ?? states[0];
  const later = states
    .map(({ atMs, ...state }) => ({ atMs: (atMs - offsetMs + repeatMs) % repeatMs, ...state }))
    .filter(({ atMs }) => atMs > 0)
    .toSorted((one, other) => one.atMs - other.atMs);
  return { rateMbps: now?.rateMbps ?? rateMbps, delayMs: now?.delayMs ?? delayMs, profile: later };
}
