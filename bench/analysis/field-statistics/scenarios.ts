/** Who comes, and what is planted. */
export interface Scenario {
  readonly name: string;
  /** The coefficient of variation of times. */
  readonly cv: number;
  readonly pages: "one" | "many";
  /** By how much a page over HTTP/3 is faster, 0 to 1. */
  readonly saves: number;
  readonly missing: "at-random" | "by-time";
  /** Whether a client's row counts with its first page first. */
  readonly grows: boolean;
}

const made = (
  cv: number,
  pages: Scenario["pages"],
  saves: number,
  missing: Scenario["missing"],
  grows = false,
): Scenario => ({
  name: `cv ${cv}, ${pages === "one" ? "1 page" : "1 to 50 pages"}, ${saves * 100} %, missing ${missing.replace("-", " ")}${grows ? ", growing" : ""}`,
  cv,
  pages,
  saves,
  missing,
  grows,
});

/** Every level of every factor, in combinations that favour none. */
export const SCENARIOS: readonly Scenario[] = [
  made(0.3, "one", 0, "at-random"),
  made(0.3, "many", 0.02, "by-time", true),
  made(0.3, "one", 0.05, "by-time"),
  made(0.3, "many", 0.2, "at-random", true),
  made(0.7, "many", 0, "by-time", true),
  made(0.7, "one", 0.02, "at-random"),
  made(0.7, "many", 0.05, "at-random", true),
  made(0.7, "one", 0.2, "by-time"),
  made(1.5, "many", 0, "at-random"),
  made(1.5, "many", 0.02, "by-time", true),
  made(1.5, "one", 0.05, "at-random"),
  made(1.5, "many", 0.2, "by-time", true),
];

export const CLIENTS = 10_000;

/** The numbers of clients, both arms together, after which one looks. */
export const LOOKS: readonly number[] = Array.from({ length: 12 }, (_, look) =>
  Math.round(200 * (CLIENTS / 200) ** (look / 11)),
);

/** ln(HTTP/2's time / HTTP/3's) of a page that HTTP/3 carries. */
export function plantedLocal({ saves }: Pick<Scenario, "saves">): number {
  return -Math.log(1 - saves);
}
