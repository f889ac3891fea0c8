import type { NewQuestion } from "../api/contract/decisions.ts";
import type { Policy } from "../decision/policy.ts";
import type { Command } from "./command.ts";
import { explanationText } from "./explanation-text.ts";
import { misused } from "./failure.ts";
import type { Options } from "./options.ts";
import { readPolicyFile } from "./policy-file.ts";

export const EXPLAIN: Command = {
  name: "explain",
  usage: "--client ADDRESS | --rtt MS ... [--policy FILE | --version N]",
  summary: "Say what would be answered to a client or on a path, and why.",
  details: `  --client ADDRESS    use what the server knows about this address; it is sent in a body
  --transport tcp     or quic: what the connection is over
  --rtt MS            of the connection
  --rate BYTES        a second, of the connection and of the remembered path
  --loss 2.5%         the remembered loss of the client; without it the policy's mix stands for it
  --packets N         the evidence for the loss, 1000 unless you set it
  --path /shop/  --asn 64500  --country JP
  --policy FILE       by this policy, stored or not
  --version N         by this version; without both, by the policy in force`,
  options: ["client", "transport", "rtt", "rate", "loss", "packets", "path", "asn", "country", "policy", "version"],
  async run({ options, io, api }) {
    const policy = options.policy === undefined ? undefined : readPolicyFile(options.policy, io);
    const explanation = await (await api()).explain(questionOf(options, policy));
    return { json: explanation, text: explanationText(explanation, options.client !== undefined) };
  },
};

/** The evidence for a loss that comes without packets: enough to believe it. */
const PACKETS = 1_000;

/** What to ask the API. --loss stands for what is remembered about the client. @throws Failure */
function questionOf(options: Options, policy: Policy | undefined): NewQuestion {
  const { client, version, transport = "tcp", path = "/", rtt, rate, loss, packets = PACKETS, asn, country } = options;
  if (version !== undefined && policy !== undefined) throw misused("--policy and --version exclude each other.");
  for (const name of ["loss", "packets"] as const)
    if (client !== undefined && options[name] !== undefined)
      throw misused(`With --client the server looks up what --${name} would tell.`);
  if (options.packets !== undefined && loss === undefined)
    throw misused("--packets is the evidence behind --loss, which is not given.");
  return {
    request: { transport, path, rttMs: rtt, deliveryRateBps: rate, asn, country },
    history:
      loss === undefined
        ? undefined
        : {
            state: "known",
            connections: [{ transport, packets, lost: loss * packets, rttMs: rtt, deliveryRateBps: rate }],
          },
    client,
    policy,
    version,
  };
}
