import type { ClientKeys } from "../durable/path-store-api.ts";
import type { ClientAddress } from "./address.ts";

/** What a hash is for. Each use has a domain of its own, so that one hash says nothing about another. */
type Domain = "client" | "network" | "object" | "exploration" | "share" | "activation";

const encoder = new TextEncoder();

/** Hashes addresses with the deployment's key (HMAC-SHA-256, RFC 2104); nothing else ever leaves this class. */
export class Keys {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** @param bytes 32 random bytes. */
  static async from(bytes: ArrayBuffer): Promise<Keys> {
    return new Keys(await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]));
  }

  /** The names under which a client and its network are kept. */
  async client(address: ClientAddress, asn?: number): Promise<ClientKeys> {
    const [client, network] = await Promise.all([
      this.#hash("client", address.client),
      this.#hash("network", address.network),
    ]);
    return { client: name(client), network: name(network), ...(asn === undefined ? {} : { asn }) };
  }

  /** The object that holds a network: a number from 0 to `objects` - 1. */
  async object(address: ClientAddress, objects: number): Promise<number> {
    return new DataView(await this.#hash("object", address.network)).getUint32(0) % objects;
  }

  /** 0 to 1, uniform over clients, the same for a client all through a period. */
  async explorationUnit(address: ClientAddress, period: number): Promise<number> {
    return new DataView(await this.#hash("exploration", `${period} ${address.client}`)).getUint32(0) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, always the same for a client. */
  async shareUnit(address: ClientAddress): Promise<number> {
    return new DataView(await this.#hash("share", address.client)).getUint32(0) / 2 ** 32;
  }

  /** 0 to 1, uniform over clients, always the same for a client: which share of an activation it is in. */
  async activationUnit(address: ClientAddress): Promise<number> {
    return new DataView(await this.#hash("activation", address.client)).getUint32(0) / 2 ** 32;
  }

  #hash(domain: Domain, text: string): Promise<ArrayBuffer> {
    return crypto.subtle.sign("HMAC", this.#key, encoder.encode(`${domain}\0${text}`));
  }
}

/** 128 bits, enough for every address there is to have a name of its own. */
function name(hash: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(hash, 0, 16))).replace(/=+$/, "");
}
