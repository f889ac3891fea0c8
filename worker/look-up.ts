import type { ClientKeys, LookUpReply } from "../durable/path-store-api.ts";
import type { RequestFacts } from "../policy-api/core/facts.ts";
import { type ActivePolicy, dependsOnClient, policyFor } from "../policy-api/core/activation.ts";
import { modeFor } from "../policy-api/core/decide.ts";
import { type ClientAddress, clientAddress } from "./address.ts";
import { type ConnectionFacts, connectionFacts, requestFacts } from "./cf.ts";
import { type Isolate, objectLabel } from "./isolate.ts";
import type { HeldPolicy } from "./policy-cache.ts";
import { regionOf } from "./region.ts";
import { NO_NEWS, type PendingNews } from "./report-buffer.ts";
import type { ObjectName, Stores } from "./stores.ts";

/** Exploration draws anew each hour. */
export const EXPLORATION_PERIOD_MS = 3_600_000;

interface WaitUntil {
  waitUntil(promise: Promise<unknown>): void;
}

/**
 * Everything that is looked up for one navigation while the origin works. Fields fill as answers arrive; whoever reads
 * them early finds less, and decides from that.
 */
export class LookUp {
  /** When the request came, milliseconds since the epoch. */
  readonly nowMs = Date.now();
  readonly connection: ConnectionFacts;
  readonly facts: RequestFacts;
  readonly address: ClientAddress | undefined;
  policy: HeldPolicy | undefined;
  /** Drawn where the activation has a stage for a share of clients. */
  activationUnit: number | undefined;
  keys: ClientKeys | undefined;
  object: ObjectName | undefined;
  reply: LookUpReply | undefined;
  /** What the isolate knew of this client when the look-up left: the reply may not hold it. */
  pending: PendingNews = NO_NEWS;
  explorationUnit: number | undefined;
  /** Drawn where the policy offers to a share of clients. */
  shareUnit: number | undefined;
  /** Whether there is nothing left to wait for. */
  settled = false;
  /** Never rejects. */
  readonly done: Promise<void>;

  constructor(request: Request, url: URL, stores: Stores, ctx: WaitUntil, isolate: Isolate) {
    this.connection = connectionFacts(request.cf, isolate.settings, this.nowMs);
    this.facts = requestFacts(this.connection, url.pathname);
    const address = this.connection.addressTrusted ? request.headers.get("cf-connecting-ip") : null;
    this.address = address === null ? undefined : clientAddress(address);
    this.policy = isolate.policy.held;
    this.done = this.#run(stores, ctx, isolate)
      .catch(() => undefined)
      .finally(() => {
        this.settled = true;
      });
  }

  /** The version of the policy that is for this request, as far as can be told by now. */
  get active(): ActivePolicy | undefined {
    const inForce = this.policy?.inForce;
    if (inForce === undefined) return undefined;
    const { path } = this.facts;
    // Whose unit is not drawn yet may be in a stage: not for everyone.
    if (this.address !== undefined && this.activationUnit === undefined && dependsOnClient(inForce, path))
      return undefined;
    return policyFor(inForce, path, this.activationUnit);
  }

  /** Names the client in the stores: once, by whoever needs it first. */
  async identify(isolate: Isolate): Promise<void> {
    if (this.address === undefined || this.policy === undefined || this.keys !== undefined) return;
    const { keys } = this.policy;
    const [clientKeys, number] = await Promise.all([
      keys.client(this.address),
      keys.object(this.address, isolate.settings.objectsPerRegion),
    ]);
    const { asn } = this.connection;
    this.keys = asn === undefined ? clientKeys : { ...clientKeys, asn };
    this.object = { region: regionOf(this.connection), number };
  }

  async #run(stores: Stores, ctx: WaitUntil, isolate: Isolate): Promise<void> {
    await isolate.policy.ready(stores, ctx, this.nowMs);
    this.policy = isolate.policy.held;
    const inForce = this.policy?.inForce;
    if (this.policy === undefined || inForce === undefined || inForce.killSwitch !== null) return;
    if (this.address !== undefined && dependsOnClient(inForce, this.facts.path))
      this.activationUnit = await this.policy.keys.activationUnit(this.address);
    const policy = this.active?.policy;
    if (policy === undefined || modeFor(policy, this.facts) !== "adaptive") return;
    if (this.address === undefined) {
      // Nobody whom anything could be remembered of: unknown, not late.
      this.reply = {};
      return;
    }
    await this.identify(isolate);
    if (policy.exploration.share > 0)
      this.explorationUnit = await this.policy.keys.explorationUnit(
        this.address,
        Math.floor(this.nowMs / EXPLORATION_PERIOD_MS),
      );
    if (policy.method?.kind === "share") this.shareUnit = await this.policy.keys.shareUnit(this.address);
    if (this.object === undefined || this.keys === undefined) return;
    this.pending = isolate.reports.pending(objectLabel(this.object), this.keys.client);
    this.reply = await stores.lookUp(this.object, this.keys);
  }
}
