import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import * as contract from "./contract/policies.ts";
import type { Activation, ActivationChange, ActivePolicy, Cause, KillSwitch } from "../decision/activation.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { etagOf, isNoneMatchHit, parseIfMatch } from "./policies.ts";
import { Problem } from "./problem.ts";

export function addActivation(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(contract.getActivation), async (c) => {
    const { store, unstoredKill } = c.get("ports");
    const activation = await store.activation();
    if (activation === undefined)
      throw new Problem(503, "the stored activation cannot be read: put one, with If-Match: *");
    const etag = etagOf("r", activation.revision);
    c.header("etag", etag);
    const unstored = unstoredKill.held();
    if (unstored !== undefined)
      return c.json({ ...activation, killSwitch: unstored.kind, killSwitchStored: false as const }, 200);
    if (isNoneMatchHit(c.req.header("if-none-match"), etag)) return c.body(null, 304);
    return c.json(activation, 200);
  });

  api.openapi(guarded(contract.listActivations), async (c) => {
    const { items, next } = await c.get("ports").store.activations(c.req.valid("query"));
    return c.json({ activations: items, next }, 200);
  });

  api.openapi(guarded(contract.putActivation), async (c) => {
    const { everyone, stages, note, cause } = c.req.valid("json");
    if (cause !== undefined && c.get("scope") !== "autopilot")
      throw new Problem(403, `the token ${c.get("actor")} is not of the scope autopilot, so it may give no cause`);
    return c.json(await changeTo(c, { kind: "put", everyone, stages }, note, cause), 200);
  });

  api.openapi(guarded(contract.rollBack), async (c) => {
    const { note } = c.req.valid("json");
    return c.json(await changeTo(c, { kind: "rollback" }, note), 200);
  });

  api.openapi(guarded(contract.putKillSwitch), async (c) => {
    const { kind, note } = c.req.valid("json");
    const killed = await changeKillSwitch(c, kind, note);
    return "stored" in killed ? c.json(killed, 202) : c.json(killed, 200);
  });

  api.openapi(guarded(contract.deleteKillSwitch), async (c) => {
    const revived = await changeKillSwitch(c, null);
    return "stored" in revived ? c.json(revived, 202) : c.json(revived, 200);
  });
}

const KILLED =
  "the store could not take it: it is in force in memory, while the worker or the TLS edge in front of it runs, and the " +
  "store is asked again every few seconds. On Cloudflare it is in force only in the isolate that took this call";
const REVIVED =
  "the kill switch in memory is off, but the store does not take changes: if it holds a kill switch, that one stays in force";

/** How long the store may take, milliseconds: an operator waits. */
const STORE_MS = 5_000;

/**
 * Changes the kill switch in the store; where the store cannot take it, in memory.
 *
 * @throws Problem if the call is refused; another error if there is nothing in memory to turn off either
 */
async function changeKillSwitch(
  c: Context<ApiEnv>,
  to: KillSwitch | null,
  note?: string,
): Promise<Activation | contract.UnstoredKillSwitch> {
  const { unstoredKill } = c.get("ports");
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the store did not answer in time")), STORE_MS);
  try {
    const activation = await Promise.race([changeTo(c, { kind: "kill-switch", to }, note), late.promise]);
    unstoredKill.settle();
    return activation;
  } catch (error) {
    if (error instanceof Problem || (to === null && unstoredKill.held() === undefined)) throw error;
    c.get("ports").failed(error);
    if (to === null) unstoredKill.settle();
    else unstoredKill.hold(to, c.get("actor"), note ?? null);
    return { stored: false, killSwitch: to, problem: to === null ? REVIVED : KILLED };
  } finally {
    clearTimeout(timer);
  }
}

/** Makes a change under the call's If-Match, and sets the reply's ETag. @throws Problem */
async function changeTo(
  c: Context<ApiEnv>,
  change: ActivationChange,
  note: string | undefined,
  cause?: Cause,
): Promise<Activation> {
  const precondition = parseIfMatch(c.req.header("if-match"), "r");
  if (precondition === undefined)
    throw new Problem(428, "send If-Match with the ETag of GET activation, or * for any", {
      faults: [{ pointer: "/header/if-match", message: "is missing" }],
    });
  const ports = c.get("ports");
  const result = await ports.store.change(change, {
    author: c.get("actor"),
    note: note ?? null,
    cause,
    ifMatch: precondition,
  });
  switch (result.kind) {
    case "precondition-failed": {
      const { revision, author } = result.current;
      throw Problem.changed(`revision ${revision}, by ${author}, is in force`, { revision }, etagOf("r", revision));
    }
    case "nothing-before":
      throw new Problem(409, "there is nothing to go back to");
    case "unusable-versions":
      throw unusable(change, result.versions);
    case "changed": {
      await ports.changed();
      c.header("etag", etagOf("r", result.activation.revision));
      return result.activation;
    }
  }
}

/** For a change to versions that are not there or cannot be read. */
function unusable(change: ActivationChange, versions: readonly ActivePolicy[]): Problem {
  const text = ({ version, fault }: ActivePolicy): string =>
    fault === undefined ? `there is no version ${version}` : `version ${version} ${fault}`;
  // The body of a rollback names no versions.
  if (change.kind !== "put") return new Problem(409, versions.map(text).join("; "));
  const named = [
    { pointer: "/everyone", version: change.everyone },
    ...change.stages.map(({ version }, i) => ({ pointer: `/stages/${i}/version`, version })),
  ];
  return Problem.ofFaults(
    "only versions that exist and can be read can be activated",
    named.flatMap(({ pointer, version }) =>
      versions
        .filter((one) => one.version === version)
        .map((one) => ({ pointer, message: text(one), relation: true as const })),
    ),
  );
}
