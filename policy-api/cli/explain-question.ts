import type { NewQuestion } from "../contract/decisions.ts";
import type { Policy } from "../core/policy.ts";
import { TRANSPORTS } from "../core/sample.ts";
import { misused } from "./failure.ts";
import type { OptionName, Options } from "./options.ts";
import { ifGiven, readNumber, readOneOf, readPath, readShare, readVersion, readWhole } from "./values.ts";

/** What tells about a client's path. With --client the server looks it up. */
const EVIDENCE = ["loss", "packets"] as const satisfies readonly OptionName[];

/** What to ask the API, by the options. A loss is what is remembered of the client. @throws Failure */
export function explainQuestion(options: Options, policy: Policy | undefined): NewQuestion {
  const { client, version, loss, packets } = options;
  if (version !== undefined && policy !== undefined) throw misused("--policy and --version exclude each other.");
  if (client !== undefined)
    for (const name of EVIDENCE)
      if (options[name] !== undefined) throw misused(`With --client the server looks up what --${name} would tell.`);
  if (packets !== undefined && loss === undefined)
    throw misused("--packets is the evidence behind --loss, which is not given.");
  const request = readRequest(options);
  const estimate = {
    lossRatio: ifGiven(loss, (text) => readShare(text, "--loss")),
    packets: ifGiven(packets, (text) => readNumber(text, "--packets", 1e12)),
    minRttMs: request.rttMs,
    deliveryRateBps: request.deliveryRateBps,
  };
  return {
    request,
    history: loss === undefined ? undefined : { state: "known", client: { [request.transport]: estimate } },
    client,
    policy,
    version: ifGiven(version, (text) => readVersion(text, "--version")),
  };
}

function readRequest({ transport = "tcp", rtt, rate, path = "/", asn, country }: Options) {
  return {
    transport: readOneOf(transport, "--transport", TRANSPORTS),
    path: readPath(path, "--path"),
    rttMs: ifGiven(rtt, (text) => readNumber(text, "--rtt", 3_600_000)),
    deliveryRateBps: ifGiven(rate, (text) => readNumber(text, "--rate", 1.25e13)),
    asn: ifGiven(asn, (text) => readWhole(text, "--asn", 0, 4_294_967_295)),
    country: country?.toUpperCase(),
  };
}
