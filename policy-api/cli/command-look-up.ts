import { TRANSPORTS } from "../core/sample.ts";
import type { Command } from "./command.ts";
import type { ClientRecord } from "../contract/clients.ts";
import { count, milliseconds, percent, rate } from "./quantities.ts";
import { table } from "./table.ts";
import { timeText } from "./time-text.ts";
import { ifGiven } from "./values.ts";
import { readWhose } from "./whose.ts";

const LEVELS = [
  ["client", "client"],
  ["network", "network"],
  ["asn", "autonomous system"],
] as const satisfies readonly (readonly [keyof ClientRecord, string])[];

export const LOOK_UP: Command = {
  name: "look-up",
  usage: "--client ADDRESS | --network ADDRESS",
  summary: "Say what is remembered of a client, or of the network of an address.",
  details: `All of it, also where it is too little to decide by. The edge tells of a visit up to 20 s after it.
A client is an IPv4 address or an IPv6 /64, a network its /24 or /48. The address is sent in a body,
never in a URL.`,
  options: ["client", "network"],
  async run({ options, api }) {
    const { what, address, whose } = readWhose(options);
    const known = await api().lookUp(what, address);
    return { json: known, text: known.known ? knownText(known) : `Nothing is known of ${whose}.` };
  },
};

function knownText(known: ClientRecord): string {
  const rows = LEVELS.flatMap(([level, name]) =>
    TRANSPORTS.flatMap((transport) => {
      const read = known[level]?.[transport];
      if (read === undefined) return [];
      const { packets, lossRatio, minRttMs, deliveryRateBps, ageMs } = read;
      return [
        [
          name,
          transport.toUpperCase(),
          count(Math.round(packets)),
          ifGiven(lossRatio, percent),
          ifGiven(minRttMs, milliseconds),
          ifGiven(deliveryRateBps, rate),
          `${milliseconds(ageMs)} ago`,
        ],
      ];
    }),
  );
  const measured =
    rows.length === 0
      ? "Nothing was measured."
      : table(["of the", "over", "packets", "loss", "least RTT", "most", "last heard of"], rows);
  return known.offers === undefined ? measured : `${measured}\n\n${offersText(known.offers)}`;
}

function offersText({ untilMs, takenAtMs, ignoredAtMs }: NonNullable<ClientRecord["offers"]>): string {
  const at = (ms: number): string => timeText(new Date(ms).toISOString());
  return [
    untilMs === 0 ? "No offer was made." : `The last offer lives until ${at(untilMs)}.`,
    takenAtMs === 0 ? "None was taken." : `One was last taken ${at(takenAtMs)}.`,
    ...(ignoredAtMs.length === 0 ? [] : [`Ignored: ${ignoredAtMs.map(at).join(", ")}.`]),
  ].join("\n");
}
