import type { ClientRecord } from "../api/contract/clients.ts";
import type { Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import { misused } from "./failure.ts";
import type { Options } from "./options.ts";
import { count, counted, milliseconds, percent, rate } from "./quantities.ts";
import { levelsText } from "./readings.ts";
import { nameList, table } from "./table.ts";
import { sinceText, timeText } from "./time-text.ts";
import { ifGiven } from "./values.ts";

export const LOOK_UP: Command = {
  name: "look-up",
  usage: "--client ADDRESS | --network ADDRESS",
  summary: "Say what is remembered about a client, or about the network of an address.",
  details: `A line for each connection, then what the levels above it tell: there clients fade, and one of few
packets counts little. A visit shows up to 20 s after it.
A client is an IPv4 address or an IPv6 /64, a network its /24 or /48. The address is sent in a body,
never in a URL.`,
  options: ["client", "network"],
  async run({ options, api, columns }) {
    const { what, address, whose } = readWhose(options);
    const known = await (await api()).lookUp(what, address);
    return { json: known, text: known.known ? knownText(known, what, columns) : `Nothing is known of ${whose}.` };
  },
};

/** What is remembered, in lines. */
export function knownText(
  { connections = [], offers, ...levels }: ClientRecord,
  what: "clients" | "networks",
  columns: number,
): string {
  const rows = connections.map(({ transport, packets, lost, rttMs, deliveryRateBps, ageMs }) => [
    transport.toUpperCase(),
    count(packets),
    packets === 0 ? undefined : percent(lost / packets),
    ifGiven(rttMs, milliseconds),
    ifGiven(deliveryRateBps, rate),
    sinceText(ageMs),
  ]);
  const above = levelsText(levels);
  return [
    ...(rows.length > 0
      ? [table(["over", "packets", "loss", "least RTT", "best rate", "last heard of"], rows, columns)]
      : []),
    ...(rows.length === 0 && what === "clients" ? ["Nothing was measured of it."] : []),
    ...(Object.keys(above).length > 0 ? [nameList(above)] : []),
    ...(Object.keys(above).length === 0 && what === "networks" ? ["Too little is left to tell anything."] : []),
    ...(offers === undefined ? [] : [offersText(offers)]),
  ].join("\n\n");
}

function offersText({ origins, takenAtMs, ignoredAtMs }: NonNullable<ClientRecord["offers"]>): string {
  const at = (ms: number): string => timeText(new Date(ms).toISOString());
  const untilMs = Math.max(0, ...origins.map((origin) => origin.untilMs));
  return [
    untilMs === 0 ? "No offer was made." : `The last offer lives until ${at(untilMs)}.`,
    takenAtMs === 0 ? "None was taken." : `One was last taken ${at(takenAtMs)}.`,
    ...(ignoredAtMs.length === 0 ? [] : [`Ignored: ${ignoredAtMs.map(at).join(", ")}.`]),
  ].join("\n");
}

export const FORGET: Command = {
  name: "forget",
  usage: "--client ADDRESS | --network ADDRESS [--yes]",
  summary: "Delete what is remembered about a client, or about the network of an address.",
  details: `A client is an IPv4 address or an IPv6 /64, a network its /24 or /48. The address is sent in a body,
never in a URL. Asks first; --yes skips the question.`,
  options: ["client", "network", "yes"],
  async run(call) {
    const { what, address, whose } = readWhose(call.options);
    await confirm(call, `To delete: all that is remembered of ${whose}. Nothing brings it back.`, "Forget it?");
    const json = await (await call.api()).forget(what, address);
    const rows = counted(json.forgotten, "row");
    return { json, text: json.forgotten === 0 ? `Nothing was known of ${whose}.` : `Forgotten: ${rows} of ${whose}.` };
  },
};

/** Whom --client or --network names. @throws Failure unless exactly one of them is given */
function readWhose({ client, network }: Options): { what: "clients" | "networks"; address: string; whose: string } {
  const address = client ?? network;
  if (address === undefined || (client !== undefined && network !== undefined))
    throw misused("Give --client ADDRESS or --network ADDRESS, one of the two.");
  return client === undefined
    ? { what: "networks", address, whose: `the network of ${address}` }
    : { what: "clients", address, whose: `the client ${address}` };
}
