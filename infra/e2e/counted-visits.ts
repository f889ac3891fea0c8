import assert, { equal } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClientRecord } from "../../policy-api/api/contract/decisions.ts";
import type { Call } from "./acknowledged-changes.ts";
import { type Load, probe, type TestSystem } from "./harness.ts";
import { startRelay } from "./relay.ts";
import { sendReport, tokenOf } from "./sent-report.ts";

/** Between two visits of a client, milliseconds. */
const PAUSE_MS = 150;
/** The client that comes back is another one after so many lives of workerd. Nobody overwrites what the last one left. */
const LIVES = 3;
/** A visit that ends this close to the time without workerd may have posted its sample within that time, milliseconds. */
const NEAR_MS = 500;

interface Visit {
  readonly address: string;
  readonly closedAtMs: number;
  /** Its page was asked to report: the client's row may add to sums, and waits then to be written with them (durable/path-store.ts). */
  readonly isAsked: boolean;
}

/** What kills cost, of visits that had ended before. */
interface Lost {
  visits: number;
  samples: number;
  /** Between the end of the visit and the kill, the longest of all lost samples. */
  oldestMs: number;
}

/**
 * Visitors load a page and an image over a connection of their own. Newcomers come once, each from its own address, so each
 * sample can be looked up by itself. One client comes again and again, so that its row is written and waits in turn. Pages that are
 * asked to report do so.
 */
export class CountedVisits {
  readonly #system: TestSystem;
  readonly #call: Call;
  readonly #ended = new AbortController();
  #visiting: Promise<unknown> = Promise.resolve();
  /** Newcomers whose sample has not been looked for. */
  #newcomers: Visit[] = [];
  #returning: Visit[] = [];
  readonly #found: string[] = [];
  #lives = 0;
  /** When workerd was killed, since the last client that came back was looked up. */
  readonly #kills: number[] = [];
  #killedAtMs = 0;
  #backAtMs = 0;
  pages = 0;
  /** Pages and images that did not arrive whole. */
  broken = 0;
  /** Newcomers' lost samples that came around the time without workerd: perhaps the edge could not post them. */
  lostAround = 0;
  /** All whole visits of the client that comes back, also those that tell nothing of samples. */
  visitsOfReturning = 0;
  /** Reports that were sent whole. */
  reports = 0;
  /** Newcomers whose pages were not asked to report. */
  readonly ofNewcomers: Lost = { visits: 0, samples: 0, oldestMs: 0 };
  /** Newcomers whose pages were asked to report. */
  readonly ofAsked: Lost = { visits: 0, samples: 0, oldestMs: 0 };
  readonly ofReturning: Lost = { visits: 0, samples: 0, oldestMs: 0 };

  constructor(system: TestSystem, call: Call) {
    this.#system = system;
    this.#call = call;
  }

  begin(): void {
    let n = 0;
    // Ten of each /24: a network with more clients would count for its crowd.
    const newcomer = (): string => `127.${1 + (n >> 11)}.${Math.floor((n % 2048) / 10)}.${1 + (n++ % 10)}`;
    this.#visiting = Promise.all([
      this.#visit(newcomer, (visit) => this.#newcomers.push(visit)),
      this.#visit(
        () => `127.200.${Math.floor(this.#lives / LIVES)}.1`,
        (visit) => {
          this.visitsOfReturning++;
          this.#returning.push(visit);
        },
      ),
    ]);
  }

  /** workerd was killed at this time, and runs again now. Looks for the samples of visits that ended before. */
  async check(killedAtMs: number): Promise<void> {
    const [lastKilledAtMs, lastBackAtMs] = [this.#killedAtMs, this.#backAtMs];
    [this.#killedAtMs, this.#backAtMs] = [killedAtMs, Date.now()];
    this.#lives++;
    const ended = this.#newcomers.filter(({ closedAtMs }) => closedAtMs < killedAtMs);
    this.#newcomers = this.#newcomers.filter(({ closedAtMs }) => closedAtMs >= killedAtMs);
    for (const { address, closedAtMs, isAsked } of ended) {
      const isNear = closedAtMs > lastKilledAtMs - NEAR_MS && closedAtMs < lastBackAtMs + NEAR_MS;
      const isFound = (await this.#lastAtMs(address)) !== undefined;
      if (isFound) this.#found.push(address);
      if (isNear) this.lostAround += isFound ? 0 : 1;
      else count(isAsked ? this.ofAsked : this.ofNewcomers, isFound ? [] : [killedAtMs - closedAtMs]);
    }
    this.#kills.push(killedAtMs);
    if (this.#lives % LIVES === 0) await this.#checkReturning();
  }

  /** Ends all visits, and looks once more for every sample that was there after a kill. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#visiting;
    for (const address of this.#found) assert((await this.#lastAtMs(address)) !== undefined, address);
  }

  async #checkReturning(): Promise<void> {
    const visits = this.#returning.splice(0);
    const kills = this.#kills.splice(0);
    const [first] = visits;
    if (first === undefined) return;
    const lastAtMs = (await this.#lastAtMs(first.address)) ?? 0;
    for (const { address, closedAtMs } of visits) {
      // What a kill did not lose is on disk. So a missing sample was lost with the first kill after its visit.
      const killedAtMs = kills.find((ms) => ms > closedAtMs);
      // A visit that the last kill met tells nothing: its sample may have been posted later, and hide the others.
      if (address !== first.address || killedAtMs === undefined || lastAtMs > (kills.at(-1) ?? 0)) continue;
      count(this.ofReturning, closedAtMs - NEAR_MS > lastAtMs ? [killedAtMs - closedAtMs] : []);
    }
  }

  /** When a client was last heard of, as far as the store knows. */
  async #lastAtMs(address: string): Promise<number | undefined> {
    const { status, json } = await this.#call("POST", "clients/look-up", { address });
    equal(status, 200);
    const { connections = [] } = json as ClientRecord;
    const ages = connections.map(({ ageMs }) => ageMs);
    return ages.length === 0 ? undefined : Date.now() - Math.min(...ages);
  }

  async #visit(nextAddress: () => string, closed: (visit: Visit) => void): Promise<void> {
    let address = "";
    const { port } = await startRelay(this.#system.port, () => address);
    const urls = [`https://localhost:${port}/`, `https://localhost:${port}/image/200000`];
    while (!this.#ended.signal.aborted) {
      address = nextAddress();
      const visited = address;
      const loads = await probe(this.#system, "h2", urls, ["-header", "Accept: text/html"]).catch((): Load[] => []);
      const whole = loads.filter(({ status, error }) => status === 200 && error === undefined).length;
      this.pages += urls.length;
      this.broken += urls.length - whole;
      const token = loads.map(tokenOf).find((one) => one !== undefined);
      // What broke may have ended at any time before.
      if (whole === urls.length) closed({ address: visited, closedAtMs: Date.now(), isAsked: token !== undefined });
      if (token !== undefined && (await sendReport(this.#system, port, token)) === 204) this.reports++;
      await sleep(PAUSE_MS);
    }
  }
}

function count(lost: Lost, agesMs: readonly number[]): void {
  lost.visits++;
  lost.samples += agesMs.length;
  lost.oldestMs = Math.max(lost.oldestMs, ...agesMs);
}
