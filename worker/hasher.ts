import type { ClientKeys } from "../durable/client-report.ts";
import type { ClientAddress } from "./address.ts";

/** What a hash is for. Each use has its own domain, so that one hash says nothing about another. */
type Domain = "client" | "network" | "object" | "exploration" | "share" | "activation" | "reporting" | "report";

const encoder = new TextEncoder();

/** Hashes addresses with the deployment's key (HMAC-SHA-256, RFC 2104). Only hashes leave this class. */
export class Hasher {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** @param bytes 32 random bytes. */
  static async from(bytes: ArrayBuffer): Promise<Hasher> {
    return new Hasher(await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]));
  }

  /** What the stores know a client, its network and its autonomous system by. */
  async client(address: ClientAddress, asn?: number): Promise<ClientKeys> {
    const [client, network] = await Promise.all([
      this.#hash("client", address.client),
      this.#hash("network", address.network),
    ]);
    return { client: name(client), network: name(network), ...(asn === undefined ? {} : { asn }) };
  }

  /** The number of the object that holds a network: from 0 to `objects` - 1. */
  async object(address: ClientAddress, objects: number): Promise<number> {
    return new DataView(await this.#hash("object", address.network)).getUint32(0) % objects;
  }

  /** 0 to 1, uniform over clients, constant for a client during a period. */
  async explorationUnit(address: ClientAddress, period: number): Promise<number> {
    return new DataView(await this.#hash("exploration", `${period} ${address.client}`)).getUint32(0) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, constant for a client. */
  async shareUnit(address: ClientAddress): Promise<number> {
    return new DataView(await this.#hash("share", address.client)).getUint32(0) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, constant for a client: it says which share of an activation the client is in. */
  async activationUnit(address: ClientAddress): Promise<number> {
    return new DataView(await this.#hash("activation", address.client)).getUint32(0) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, constant for a client: it says whether the client's pages are asked to report. */
  async reportingUnit(address: ClientAddress): Promise<number> {
    return new DataView(await this.#hash("reporting", address.client)).getUint32(0) / 2 ** 32;
  }

  /**
   * The authentication code of what a page takes along for its report. It is of this client: from another one the same
   * bytes have another code.
   *
   * @param length Bytes of the code, of at most 32.
   */
  async reportCode(bytes: Uint8Array, client: string, length: number): Promise<Uint8Array> {
    const text = `${String.fromCharCode(...bytes)}\0${client}`;
    return new Uint8Array(await this.#hash("report", text), 0, length);
  }

  #hash(domain: Domain, text: string): Promise<ArrayBuffer> {
    return crypto.subtle.sign("HMAC", this.#key, encoder.encode(`${domain}\0${text}`));
  }
}

/** 128 bits: enough to give every address its own name. */
function name(hash: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(hash, 0, 16))).replace(/=+$/, "");
}
