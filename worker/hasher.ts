import { type _HMAC, hmac } from "@noble/hashes/hmac.js";
import { type _SHA256, sha256 } from "@noble/hashes/sha2.js";
import type { ClientKeys } from "../durable/client-report.ts";
import type { ClientAddress } from "./address.ts";

/** What is drawn for a client: its arm, its place in a policy's share or an activation's, and whether its pages report. */
type Draw = "exploration" | "share" | "activation" | "reporting";
/** What a hash is for. Each use has its own domain, so that one hash says nothing about another. */
type Domain = "client" | "network" | "origin" | "report" | Draw;

type Keyed = _HMAC<_SHA256>;

const encoder = new TextEncoder();

/** A client as the stores know it, and the number of the object that holds its network. */
export interface Named {
  readonly keys: ClientKeys;
  /** From 0 to one less than the number of objects. */
  readonly object: number;
}

/**
 * Hashes addresses with the deployment's key (HMAC-SHA-256, RFC 2104). Only hashes leave this class. By a library and not by
 * crypto.subtle, whose promises take a page longer than the hashes themselves.
 */
export class Hasher {
  /** The key has gone through it already: each hash begins with a copy. */
  readonly #keyed: Keyed;
  /** The copy. A new one for each hash takes longer than the hash. */
  readonly #copy: Keyed;
  /** A host's name has at most 253 letters. */
  readonly #text = new Uint8Array(512);
  /** Names of origins: a deployment has few, and each page asks for one. */
  readonly #origins = new Map<string, string>();
  readonly #hashed = new Uint8Array(32);

  /** @param key 32 random bytes. */
  constructor(key: ArrayBuffer) {
    this.#keyed = hmac.create(sha256, new Uint8Array(key));
    this.#copy = this.#keyed.clone();
  }

  /** What the stores know a client, its network, its autonomous system and its country by, and where they keep it. */
  named(address: ClientAddress, objects: number, { asn, country }: Pick<ClientKeys, "asn" | "country"> = {}): Named {
    const client = name(this.#hash("client", address.client));
    const hash = this.#hash("network", address.network);
    const network = name(hash);
    // Bits that are not in the name: they say nothing of it.
    return {
      keys: {
        client,
        network,
        ...(asn === undefined ? {} : { asn }),
        ...(country === undefined ? {} : { country }),
      },
      object: uint32(hash, NAME_BYTES) % objects,
    };
  }

  /** What the stores know an origin by, from host and port. Of a client, they say which of the deployment's it visits. */
  origin(host: string): string {
    let origin = this.#origins.get(host);
    if (origin === undefined) {
      origin = name(this.#hash("origin", host.slice(0, HOST_MAX)), ORIGIN_BYTES);
      if (this.#origins.size >= ORIGINS_HELD) this.#origins.clear();
      this.#origins.set(host, origin);
    }
    return origin;
  }

  /** 0 to 1, uniform over clients, constant for a client: during a period, if one is given. */
  unit(draw: Draw, { client }: ClientAddress, period?: number): number {
    return uint32(this.#hash(draw, period === undefined ? client : `${period} ${client}`)) / 2 ** 32;
  }

  /**
   * The authentication code of what a page takes along for its report. It is of this client: from another one the same
   * bytes have another code.
   *
   * @param length Bytes of the code, of at most 32.
   */
  reportCode(bytes: Uint8Array, client: string, length: number): Uint8Array {
    return this.#hash("report", `${String.fromCharCode(...bytes)}\0${client}`).slice(0, length);
  }

  /** The next hash overwrites it. */
  #hash(domain: Domain, text: string): Uint8Array {
    const whole = `${domain}\0${text}`;
    const { read, written } = encoder.encodeInto(whole, this.#text);
    if (read < whole.length) throw new RangeError("more text than is ever hashed here");
    // oxlint-disable-next-line no-underscore-dangle -- the library's own name for a copy into what is there already
    this.#keyed._cloneInto(this.#copy).update(this.#text.subarray(0, written)).digestInto(this.#hashed);
    return this.#hashed;
  }
}

const ORIGINS_HELD = 256;
/** A client has few. */
const ORIGIN_BYTES = 6;
/** With a port. What is longer is no host's name: a visitor made it up. */
const HOST_MAX = 260;
/** 128 bits: enough to give every address its own name. */
const NAME_BYTES = 16;

/** In base64 (RFC 4648, section 4), without padding. */
function name(hash: Uint8Array, bytes = NAME_BYTES): string {
  return hash.subarray(0, bytes).toBase64({ omitPadding: true });
}

function uint32(hash: Uint8Array, at = 0): number {
  return new DataView(hash.buffer, hash.byteOffset).getUint32(at);
}
