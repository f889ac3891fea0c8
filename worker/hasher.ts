import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { ClientKeys } from "../durable/client-report.ts";
import type { ClientAddress } from "./address.ts";

/** What a hash is for. Each use has its own domain, so that one hash says nothing about another. */
type Domain = "client" | "network" | "object" | "exploration" | "share" | "activation" | "reporting" | "report";

const encoder = new TextEncoder();

/**
 * Hashes addresses with the deployment's key (HMAC-SHA-256, RFC 2104). Only hashes leave this class. By a library and not by
 * crypto.subtle, whose promises take a page longer than the three hashes themselves.
 */
export class Hasher {
  /** The key has gone through it already: each hash begins with a copy. */
  readonly #keyed: ReturnType<typeof hmac.create>;

  /** @param key 32 random bytes. */
  constructor(key: ArrayBuffer) {
    this.#keyed = hmac.create(sha256, new Uint8Array(key));
  }

  /** What the stores know a client, its network and its autonomous system by. */
  client(address: ClientAddress, asn?: number): ClientKeys {
    const client = name(this.#hash("client", address.client));
    const network = name(this.#hash("network", address.network));
    return { client, network, ...(asn === undefined ? {} : { asn }) };
  }

  /** The number of the object that holds a network: from 0 to `objects` - 1. */
  object(address: ClientAddress, objects: number): number {
    return uint32(this.#hash("object", address.network)) % objects;
  }

  /** 0 to 1, uniform over clients, constant for a client during a period. */
  explorationUnit(address: ClientAddress, period: number): number {
    return uint32(this.#hash("exploration", `${period} ${address.client}`)) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, constant for a client. */
  shareUnit(address: ClientAddress): number {
    return uint32(this.#hash("share", address.client)) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, constant for a client: it says which share of an activation the client is in. */
  activationUnit(address: ClientAddress): number {
    return uint32(this.#hash("activation", address.client)) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, constant for a client: it says whether the client's pages are asked to report. */
  reportingUnit(address: ClientAddress): number {
    return uint32(this.#hash("reporting", address.client)) / 2 ** 32;
  }

  /**
   * The authentication code of what a page takes along for its report. It is of this client: from another one the same
   * bytes have another code.
   *
   * @param length Bytes of the code, of at most 32.
   */
  reportCode(bytes: Uint8Array, client: string, length: number): Uint8Array {
    return this.#hash("report", `${String.fromCharCode(...bytes)}\0${client}`).subarray(0, length);
  }

  #hash(domain: Domain, text: string): Uint8Array {
    return this.#keyed
      .clone()
      .update(encoder.encode(`${domain}\0${text}`))
      .digest();
  }
}

/** 128 bits: enough to give every address its own name. */
function name(hash: Uint8Array): string {
  return btoa(String.fromCharCode(...hash.subarray(0, 16))).replace(/=+$/, "");
}

function uint32(hash: Uint8Array): number {
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0);
}
