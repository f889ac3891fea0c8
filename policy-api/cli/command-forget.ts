import type { Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import { misused } from "./failure.ts";
import { counted } from "./quantities.ts";

export const FORGET: Command = {
  name: "forget",
  usage: "--client ADDRESS | --network ADDRESS [--yes]",
  summary: "Delete what is remembered of a client, or of the network of an address.",
  details: `A client is an IPv4 address or an IPv6 /64, a network its /24 or /48. The address is sent in a body,
never in a URL. Asks (--yes: does not ask).`,
  options: ["client", "network", "yes"],
  words: [0, 0],
  async run(call) {
    const { client, network } = call.options;
    const address = client ?? network;
    if (address === undefined || (client !== undefined && network !== undefined))
      throw misused("Give --client ADDRESS or --network ADDRESS, one of the two.");
    const whose = client === undefined ? `the network of ${address}` : `the client ${address}`;
    await confirm(call, `All that is remembered of ${whose} goes; nothing brings it back.`, "Forget it?");
    const answer = await call.api().forget(client === undefined ? "networks" : "clients", address);
    const { forgotten } = answer;
    return {
      json: answer,
      text: forgotten === 0 ? `Nothing was known of ${whose}.` : `Forgotten: ${counted(forgotten, "row")} of ${whose}.`,
    };
  },
};
