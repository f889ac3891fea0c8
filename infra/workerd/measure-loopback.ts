import { connect } from "node:http2";
import { finished } from "node:stream/promises";

/** On a loopback that is about 1,400 packets: enough to say that none are lost. */
const BYTES = 10_000_000;

/**
 * Loads a file of the demo site over each of the edge's addresses, so that already the first page is decided by what this machine's
 * loopback is. Otherwise the policy would expect of it what it expects of any client on the internet. Never rejects: without
 * this, the demonstration works too.
 */
export async function measureLoopback(addresses: readonly string[], ca: string): Promise<void> {
  await Promise.all(addresses.map((address) => load(address, ca).catch(() => undefined)));
}

async function load(address: string, ca: string): Promise<void> {
  const session = connect(`https://${address}`, { ca, servername: "localhost" });
  try {
    const port = address.slice(address.lastIndexOf(":"));
    const stream = session.request({ ":authority": `localhost${port}`, ":path": `/image/${BYTES}` });
    session.once("error", (error) => stream.destroy(error));
    stream.end();
    await finished(stream.resume(), { writable: false });
  } finally {
    session.destroy();
  }
}
