import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "./command.ts";
import { misused } from "./failure.ts";
import { statsText } from "./stats-text.ts";

const HOURS = 24;
/** How often watch asks, seconds: isolates tell what they counted every 20 s. */
const EVERY_S = 10;
/** Clears the screen, and goes to its corner (ECMA-48, 8.3.39 and 8.3.21). */
const CLEAR = "\u001B[2J\u001B[H";

export const STATS: Command = {
  name: "stats",
  usage: "[--hours N]",
  summary: "Count what was decided and why, and what visitors did with it.",
  details: `Shows this hour, the last N hours (${HOURS}) and all since the beginning. What an isolate counted comes
in within 20 s. \`results\` says what HTTP/3 saved.`,
  options: ["hours"],
  async run({ options: { hours = HOURS }, io, api }) {
    const stats = await (await api()).stats(hours);
    return { json: stats, text: statsText(stats, hours, io.nowMs()) };
  },
};

export const WATCH: Command = {
  name: "watch",
  usage: "[--hours N] [--every SECONDS]",
  summary: "The same, shown anew all the time, until you press Ctrl-C.",
  details: `Asks every ${EVERY_S} seconds, or as often as --every says.`,
  options: ["hours", "every"],
  async run({ options: { hours = HOURS, every = EVERY_S, json }, io, api, tell }) {
    if (json === true) throw misused("`watch` has no --json: it does not end. `stats --json` shows the same once.");
    const connected = await api();
    for (;;) {
      const stats = await connected.stats(hours);
      const at = new Date(io.nowMs()).toISOString().slice(11, 19);
      tell(
        `${io.stdout.isTTY === true ? CLEAR : ""}${connected.origin}, ${at}Z\n\n${statsText(stats, hours, io.nowMs())}\n`,
      );
      await pause(every * 1_000);
    }
  },
};
