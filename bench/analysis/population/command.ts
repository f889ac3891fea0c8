import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { format } from "prettier";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { readOptions, wholeNumber, words } from "../../model/options.ts";
import { readPopulation } from "../../model/population.ts";
import { drawClients } from "./draw.ts";

const OPTIONS = {
  population: words("FILE", "who visits: a description, JSON", undefined),
  clients: wholeNumber("how many are drawn (64)", [1, 1_000], 64),
  out: words(
    "FILE",
    "where they go (bench/experiments/clients/clients.json)",
    "bench/experiments/clients/clients.json",
  ),
};

/** Draws the clients that the experiment `clients` measures. @throws UserError */
export async function drawClientsCommand(args: readonly string[]): Promise<void> {
  const { population, clients, out } = readOptions(args, OPTIONS);
  if (population === undefined) throw new UserError("--population FILE says who visits.");
  const file = resolve(ROOT, out);
  const drawn = drawClients(readPopulation(resolve(population)), clients);
  writeFileSync(file, await format(JSON.stringify(drawn), { parser: "json", printWidth: 160 }));
  console.log(`${relative(ROOT, file)}: ${drawn.length} clients.`);
}
