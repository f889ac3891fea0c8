import type { Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import { counted } from "./quantities.ts";
import { readWhose } from "./whose.ts";

export const FORGET: Command = {
  name: "forget",
  usage: "--client ADDRESS | --network ADDRESS [--yes]",
  summary: "Delete what is remembered of a client, or of the network of an address.",
  details: `A client is an IPv4 address or an IPv6 /64, a network its /24 or /48. The address is sent in a body,
never in a URL. Asks (--yes: does not ask).`,
  options: ["client", "network", "yes"],
  async run(call) {
    const { what, address, whose } = readWhose(call.options);
    await confirm(call, `To delete: all that is remembered of ${whose}. Nothing brings it back.`, "Forget it?");
    const answer = await call.api().forget(what, address);
    const { forgotten } = answer;
    return {
      json: answer,
      text: forgotten === 0 ? `Nothing was known of ${whose}.` : `Forgotten: ${counted(forgotten, "row")} of ${whose}.`,
    };
  },
};
