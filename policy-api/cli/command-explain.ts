import type { Command } from "./command.ts";
import { explainQuestion } from "./explain-question.ts";
import { explanationText } from "./explanation-text.ts";
import { readPolicyFile } from "./policy-file.ts";

export const EXPLAIN: Command = {
  name: "explain",
  usage: "--client ADDRESS | --rtt MS ... [--policy FILE | --version N]",
  summary: "Say what would be answered to a client or on a path, and why.",
  details: `  --client ADDRESS    what the server knows of this address counts; it is sent in a body
  --transport tcp     or quic: what the connection is over
  --rtt MS            of the connection
  --rate BYTES        a second, of the connection and of what is remembered
  --loss 2.5%         what is remembered of the client; without it nothing is
  --packets N         the evidence behind that, 1000 unless given
  --path /shop/  --asn 64500  --country JP
  --policy FILE       by this policy, which need not be stored
  --version N         by this version; without either, by what is in force`,
  options: ["client", "transport", "rtt", "rate", "loss", "packets", "path", "asn", "country", "policy", "version"],
  async run({ options, io, api }) {
    const policy = options.policy === undefined ? undefined : readPolicyFile(options.policy, io);
    const explanation = await api().explain(explainQuestion(options, policy));
    return { json: explanation, text: explanationText(explanation, options.client !== undefined) };
  },
};
