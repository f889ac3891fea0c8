import type { ClientRecord, NewQuestion } from "../api/contract/decisions.ts";
import type { Command } from "./command.ts";
import { confirm } from "./confirm.ts";
import { misused } from "./failure.ts";
import { ifGiven, type Options } from "./options.ts";
import { count, counted, milliseconds, percent, rate as rateText, sinceText, timeText } from "./quantities.ts";
import { table } from "./table.ts";
import type { Policy } from "../decision/policy.ts";
import { explanationText } from "./explanation-text.ts";
import { readPolicyFile } from "./files.ts";

export const LOOK_UP: Command = {
  name: "look-up",
  usage: "--client ADDRESS",
  summary: "Say what is remembered about a client.",
  details: `A line for each connection. A visit shows up to 20 s after it.
A client is an IPv4 address or an IPv6 /64. The address is sent in a body, never in a URL.`,
  options: ["client"],
  async run({ options, api, columns }) {
    const address = readClient(options);
    const known = await (await api()).lookUp(address);
    return {
      json: known,
      text: known.known ? knownText(known, columns) : `Nothing is known of the client ${address}.`,
    };
  },
};

/** What is remembered, in lines. */
function knownText({ connections = [], offers }: ClientRecord, columns: number): string {
  const rows = connections.map(({ transport, packets, lost, rttMs, deliveryRateBps, ageMs }) => [
    transport.toUpperCase(),
    count(packets),
    packets === 0 ? undefined : percent(lost / packets),
    ifGiven(rttMs, milliseconds),
    ifGiven(deliveryRateBps, rateText),
    sinceText(ageMs),
  ]);
  const ofClient =
    rows.length > 0
      ? table(["over", "packets", "loss", "least RTT", "best rate", "last heard of"], rows, columns)
      : "Nothing was measured of it.";
  return [ofClient, offers && offersText(offers)].filter(Boolean).join("\n\n");
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
  usage: "--client ADDRESS [--yes]",
  summary: "Delete what is remembered about a client.",
  details: `A client is an IPv4 address or an IPv6 /64. The address is sent in a body, never in a URL.
Asks first; --yes skips the question.`,
  options: ["client", "yes"],
  async run(call) {
    const address = readClient(call.options);
    const whose = `the client ${address}`;
    await confirm(call, `To delete: all that is remembered of ${whose}. Nothing brings it back.`, "Forget it?");
    const json = await (await call.api()).forget(address);
    const rows = counted(json.forgotten, "row");
    return { json, text: json.forgotten === 0 ? `Nothing was known of ${whose}.` : `Forgotten: ${rows} of ${whose}.` };
  },
};

/** @throws Failure without --client */
function readClient({ client }: Options): string {
  if (client === undefined) throw misused("Give --client ADDRESS.");
  return client;
}

export const EXPLAIN: Command = {
  name: "explain",
  usage: "[--client ADDRESS] [--rtt MS] ... [--policy FILE | --version N]",
  summary: "Say what would be answered to a client or on a path, and why.",
  details: `About a client, and about anybody who is so far away and loses so much:
  explain --client 192.0.2.7
  explain --rtt 170 --loss 0.1%

  --client ADDRESS    use what the server knows about this address; it is sent in a body
  --transport tcp     or quic: what the connection is over
  --rtt MS            of the connection; if it is not set, the last one that the server knows of the client
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
