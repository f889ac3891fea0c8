import type { PathEstimate } from "../core/estimate.ts";
import type { History, RequestFacts } from "../core/facts.ts";
import type { Policy } from "../core/policy.ts";
import { TRANSPORTS } from "../core/sample.ts";
import { misused } from "./failure.ts";
import type { OptionName, Options } from "./options.ts";
import { readNumber, readOneOf, readPath, readShare, readVersion, readWhole } from "./values.ts";

/** Evidence behind --loss, packets, where none is given: as the API takes it. */
const PACKETS = 1_000;
/** What tells of a client's path what --client has the server look up. */
const EVIDENCE = ["loss", "packets"] as const satisfies readonly OptionName[];

export interface ExplainQuestion {
  readonly request: RequestFacts;
  readonly history?: History;
  readonly client?: string;
  readonly policy?: Policy;
  readonly version?: number;
}

/** What to ask of the API, by the options; a loss is what is remembered of the client. @throws Failure */
export function explainQuestion(options: Options, policy: Policy | undefined): ExplainQuestion {
  const { client, version } = options;
  if (version !== undefined && options.policy !== undefined)
    throw misused("--policy and --version exclude each other.");
  if (client !== undefined)
    for (const name of EVIDENCE)
      if (options[name] !== undefined) throw misused(`With --client the server looks up what --${name} would tell.`);
  if (options.packets !== undefined && options.loss === undefined)
    throw misused("--packets is the evidence behind --loss, which is not given.");
  const request = readRequest(options);
  return {
    request,
    ...(options.loss === undefined ? {} : { history: readHistory(options.loss, request, options) }),
    ...(client === undefined ? {} : { client }),
    ...(policy === undefined ? {} : { policy }),
    ...(version === undefined ? {} : { version: readVersion(version, "--version") }),
  };
}

function readRequest({ transport, rtt, rate, path, asn, country }: Options): RequestFacts {
  return {
    transport: transport === undefined ? "tcp" : readOneOf(transport, "--transport", TRANSPORTS),
    path: path === undefined ? "/" : readPath(path, "--path"),
    ...(rtt === undefined ? {} : { rttMs: readNumber(rtt, "--rtt", 3_600_000) }),
    ...(rate === undefined ? {} : { deliveryRateBps: readNumber(rate, "--rate", 1.25e13) }),
    ...(asn === undefined ? {} : { asn: readWhole(asn, "--asn", 0, 4_294_967_295) }),
    ...(country === undefined ? {} : { country: country.toUpperCase() }),
  };
}

function readHistory(loss: string, { transport, rttMs, deliveryRateBps }: RequestFacts, { packets }: Options): History {
  const client: PathEstimate = {
    [transport]: {
      lossRatio: readShare(loss, "--loss"),
      packets: packets === undefined ? PACKETS : readNumber(packets, "--packets", 1e12),
      ageMs: 0,
      ...(rttMs === undefined ? {} : { minRttMs: rttMs }),
      ...(deliveryRateBps === undefined ? {} : { deliveryRateBps }),
    },
  };
  return { state: "known", client };
}
