import type { OpenAPIHono } from "@hono/zod-openapi";
import { getHealth } from "./contract/health.ts";
import type { Activation } from "../decision/activation.ts";
import type { ApiEnv } from "./env.ts";
import type { PolicyApiPorts, StoreState } from "./ports.ts";
import { silentText } from "./view.ts";

export function addHealth(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(getHealth, async (c) => {
    const ports = c.get("ports");
    const { settingsFaults } = ports;
    const state = await ports.checkStore();
    const { activation } = state;
    const unread = activation === null ? [] : await unreadable(activation, ports);
    const policy = activation === null ? "unreachable" : unread.length === 0 ? "ok" : "unreadable";
    const store = storeOf(state);
    const held = ports.unstoredKill.held();
    const kind = held?.kind ?? activation?.killSwitch ?? null;
    const http3 = ports.edgeHttp3();
    const problems = [
      ...unread,
      ...(store === "ok" ? [] : [STORE_PROBLEMS[store]]),
      ...(state.isSetAside ? [SET_ASIDE] : []),
      ...(held === undefined ? [] : ["the kill switch is in force in memory only: the store could not take it yet"]),
      ...(ports.isOriginLost() ? [ORIGIN_LOST] : []),
      ...(http3 === "down" ? ["the TLS edge's HTTP/3 does not answer: nothing offers it meanwhile"] : []),
      ...settingsFaults.map(({ name, message }) => `the variable ${name} ${message}`),
    ];
    const healthy = problems.length === 0;
    return c.json(
      {
        status: healthy ? ("ok" as const) : ("degraded" as const),
        problems,
        policy,
        store,
        revision: activation?.revision ?? null,
        killSwitch: kind && { kind, stored: held === undefined },
        http3,
        settings: settingsFaults.map(({ name, message }) => ({ name, message })),
      },
      healthy ? 200 : 503,
    );
  });
}

const SET_ASIDE = "a database of what is known about clients could not be opened: it was set aside, and begins anew";

const ORIGIN_LOST =
  "the origin answered no request for a minute or longer, so nothing is decided: the worker's log says why";

const STORE_PROBLEMS = {
  unreachable: "the policy store does not answer",
  replaced: "the policy store is not the one that this deployment had: it was emptied or replaced",
  unwritable: "the policy store cannot be written: is the disk full?",
} as const;

function storeOf({ activation, isReplaced, takesWrites }: StoreState): "ok" | keyof typeof STORE_PROBLEMS {
  if (activation === null) return "unreachable";
  if (isReplaced) return "replaced";
  return takesWrites ? "ok" : "unwritable";
}

/** What of the policies in force cannot be read, and why: a sentence each. Their clients get no offers. */
async function unreadable(activation: Activation | undefined, ports: PolicyApiPorts): Promise<readonly string[]> {
  const inForce = activation && (await ports.inForce());
  if (inForce === undefined) return ["the policy in force cannot be read"];
  const silent = [inForce.everyone, ...inForce.stages].filter(({ policy }) => policy === undefined);
  return [...new Set(silent.map(silentText))];
}
