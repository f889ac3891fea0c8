import { setTimeout as pause } from "node:timers/promises";
import type { Extent, Stats } from "../api/contract/stats.ts";
import type { Api } from "./api.ts";
import type { Command } from "./command.ts";
import { Failure, failureText, misused } from "./failure.ts";
import { extentText, statsText } from "./stats-text.ts";

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
in within 20 s. Then how much is kept of clients. \`results\` says what HTTP/3 saved.`,
  options: ["hours"],
  async run({ options: { hours = HOURS }, io, api, columns }) {
    const connected = await api();
    const [stats, store] = await Promise.all([connected.stats(hours), keptOrUnknown(connected)]);
    const kept = store === undefined ? "" : `\n\n${extentText(store, io.nowMs())}`;
    return {
      json: { ...stats, ...(store !== undefined && { store }) },
      text: statsText(stats, hours, io.nowMs(), columns) + kept,
    };
  },
};

/** A worker of an earlier release does not know. */
async function keptOrUnknown(api: Pick<Api, "extent">): Promise<Extent | undefined> {
  try {
    return await api.extent();
  } catch (error) {
    if (error instanceof Failure && error.details.status === 404) return undefined;
    throw error;
  }
}

export const WATCH: Command = {
  name: "watch",
  usage: "[--hours N] [--every SECONDS]",
  summary: "The same, shown anew all the time, until you press Ctrl-C.",
  details: `Asks every ${EVERY_S} seconds, or as often as --every says.`,
  options: ["hours", "every"],
  async run(call) {
    const { hours = HOURS, every = EVERY_S, json } = call.options;
    const { io, api, tell } = call;
    if (json === true) throw misused("`watch` has no --json: it does not end. `stats --json` shows the same once.");
    const connected = await api();
    // Who cannot be asked at all is told so, and asks no more.
    let stats = await connected.stats(hours);
    for (let fault = ""; ;) {
      const at = new Date(io.nowMs()).toISOString().slice(11, 19);
      const clear = io.stdout.isTTY === true ? CLEAR : "";
      tell(`${clear}${connected.origin}, ${at}Z\n${fault}\n${statsText(stats, hours, io.nowMs(), call.columns)}\n`);
      await pause(every * 1_000);
      ({ stats, fault } = await polled(connected, hours, stats));
    }
  },
};

/** The next figures; or those of before, and why there are no others. */
export async function polled(
  api: Pick<Api, "stats">,
  hours: number,
  before: Stats,
): Promise<{ stats: Stats; fault: string }> {
  try {
    return { stats: await api.stats(hours), fault: "" };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { stats: before, fault: `The figures are old. ${failureText(error)}\n` };
  }
}
