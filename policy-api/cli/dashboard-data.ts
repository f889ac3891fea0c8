import type { Activation } from "../api/contract/activation.ts";
import type { Api } from "./api.ts";
import type { DashboardData, Part } from "./dashboard-page/data.ts";
import { Failure } from "./failure.ts";

/** Asks for all of it at a time. A part that fails says so, and the others are shown. */
export async function dashboardData(
  api: Pick<Api, "origin" | "health" | "activation" | "version" | "stats" | "results">,
  hours: number,
  atMs: number,
): Promise<DashboardData> {
  const activation = partOf(api.activation().then((reply) => reply.activation));
  const [health, inForce, policy, stats, results] = await Promise.all([
    partOf(api.health().then((reply) => reply.json())),
    activation,
    partOf(policyOf(api, activation)),
    partOf(api.stats(hours)),
    partOf(api.results(undefined)),
  ]);
  return { origin: api.origin, atMs, hours, health, activation: inForce, policy, stats, results };
}

async function policyOf(api: Pick<Api, "version">, activation: Promise<Part<Activation>>): Promise<unknown> {
  const inForce = await activation;
  if ("fault" in inForce) throw new Error(inForce.fault);
  return (await api.version(inForce.value.everyone)).policy;
}

async function partOf<T>(asked: Promise<T>): Promise<Part<T>> {
  try {
    return { value: await asked };
  } catch (error) {
    if (error instanceof Failure) return { fault: [error.message, error.details.detail].filter(Boolean).join(" ") };
    return { fault: error instanceof Error ? error.message : "It cannot be told." };
  }
}
