/** A network that clients may be behind. */
export interface MixNetwork {
  /** Share of the mix, any unit. */
  readonly weight: number;
  readonly lossRatio: number;
  readonly rateMbps: number;
}

/** Whom a client is taken to be of whom nothing but the RTT is known. */
export interface Mix {
  readonly about: string;
  readonly networks: readonly MixNetwork[];
}

export const MIXES = {
  "nine-networks": {
    about:
      "the nine networks of the published evaluation, alike: 200 Mbit/s, a third each without loss, with 2.5 % and with 5 %",
    networks: [0, 0.025, 0.05].map((lossRatio) => ({ weight: 1, lossRatio, rateMbps: 200 })),
  },
  "mostly-clean": {
    about: "access lines: 80 Mbit/s, 85 % of clients without loss, 10 % with 1 %, 5 % with 3 %",
    networks: [
      { weight: 85, lossRatio: 0, rateMbps: 80 },
      { weight: 10, lossRatio: 0.01, rateMbps: 80 },
      { weight: 5, lossRatio: 0.03, rateMbps: 80 },
    ],
  },
} as const satisfies Record<string, Mix>;

export const MIX_NAMES = ["nine-networks", "mostly-clean"] as const satisfies readonly (keyof typeof MIXES)[];
