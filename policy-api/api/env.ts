import type { Scope } from "./contract/access.ts";
import type { PolicyApiPorts } from "./ports.ts";

/** What handlers find in the context of a call. */
export interface ApiEnv {
  Variables: {
    ports: PolicyApiPorts;
    /** The name of the call's token. */
    actor: string;
    scope: Scope;
  };
}
