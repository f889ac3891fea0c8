import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findEndpoint } from "./endpoint.ts";
import { Failure } from "./failure.ts";
import { selfSigned } from "./testing-certificate.ts";
import { testIo, type TestIo } from "./testing.ts";

const CERT = selfSigned().cert;

/** The folder that `npm start` leaves. */
function withState(io: TestIo): TestIo {
  const folder = join(io.projectFolder, ".adaptive-h3");
  mkdirSync(folder);
  writeFileSync(join(folder, "token"), "local-token\n", { mode: 0o600 });
  writeFileSync(join(folder, "dev-cert.pem"), CERT);
  return io;
}

describe("where the server is", () => {
  it("is the one of npm start where nothing else is said", () => {
    expect(findEndpoint({}, withState(testIo()))).toMatchObject({
      origin: "https://localhost:8443",
      token: "local-token",
      ca: CERT,
    });
    expect(findEndpoint({}, withState(testIo({ PORT: "9000", H3_URL: "" }))).origin).toBe("https://localhost:9000");
  });

  it.each([
    ["https://localhost:8443", {}],
    ["https://127.0.0.1:8443/", {}],
    ["https://[::1]:8443", {}],
    ["https://localhost:9000", { PORT: "9000" }],
    ["https://localhost", { PORT: "443" }],
  ])("is that of npm start too where it is named: %s %j", (url, env) => {
    const own = { token: "local-token", ca: CERT };
    expect(findEndpoint({ url }, withState(testIo(env)))).toMatchObject({ origin: new URL(url).origin, ...own });
    expect(findEndpoint({}, withState(testIo({ ...env, H3_URL: url })))).toMatchObject(own);
  });

  it("is asked for where npm start has left nothing", () => {
    expect(() => findEndpoint({}, testIo())).toThrow("Which server? `npm start` has left no token in");
    // Last answers of commands make the folder too.
    const io = testIo();
    mkdirSync(join(io.projectFolder, ".adaptive-h3"));
    expect(() => findEndpoint({}, io)).toThrow("Which server? `npm start` has left no token in");
  });

  // A token that is sent to a server that did not make it is a token given away.
  it("another server is not shown what is this machine's", () => {
    const io = withState(testIo({ H3_URL: "https://www.example.com/" }));
    expect(findEndpoint({}, io)).toMatchObject({ origin: "https://www.example.com", token: undefined, ca: undefined });
    expect(findEndpoint({ url: "https://other.example" }, io).origin).toBe("https://other.example");
  });

  it.each([
    "https://www.example.com:8443",
    "https://localhost:9555",
    "http://localhost:8443",
    "https://a.localhost:8443",
  ])("nor is one that may be somebody else's: %s", (url) => {
    expect(findEndpoint({ url }, withState(testIo()))).toMatchObject({ token: undefined, ca: undefined });
  });

  it.each([
    ["https://www.example.com/_h3/v1/", "https://www.example.com"],
    ["http://localhost:8080", "http://localhost:8080"],
    ["http://127.0.0.1", "http://127.0.0.1"],
    ["http://[::1]:8080/", "http://[::1]:8080"],
  ])("%s: %s", (url, origin) => {
    expect(findEndpoint({ url }, testIo()).origin).toBe(origin);
  });

  it.each([
    ["http://www.example.com", "in the clear"],
    ["http://localhost.example.com", "in the clear"],
    ["http://127.0.0.2", "in the clear"],
    ["https://me:s3cret@www.example.com", "no name and no password"],
    ["https://me:s3cret@www. example.com", "must be like https://"],
    ["https://www.example.com/shop", "without a path"],
    ["https://www.example.com/?a=b", "without a path"],
    ["ftp://www.example.com", "must be like https://"],
    ["www.example.com", "must be like https://"],
  ])("%s is refused", (url, why) => {
    const find = (): unknown => findEndpoint({ url }, testIo());
    expect(find).toThrow(why);
    expect(find).not.toThrow("s3cret");
  });
});

describe("the token", () => {
  const url = "https://www.example.com";

  it("a file named on the command line comes before the variable, and that before the variable of a file", () => {
    const io = testIo({ H3_TOKEN: "of-variable", H3_TOKEN_FILE: "b" });
    writeFileSync(join(io.folder, "a"), "of-a\n", { mode: 0o600 });
    writeFileSync(join(io.folder, "b"), "of-b", { mode: 0o600 });
    expect(findEndpoint({ url, "token-file": "a" }, io).token).toBe("of-a");
    expect(findEndpoint({ url }, io).token).toBe("of-variable");
    expect(findEndpoint({ url }, { ...io, env: { H3_TOKEN_FILE: "b" } }).token).toBe("of-b");
  });

  it("a file that others may read is warned of", () => {
    const io = testIo();
    writeFileSync(join(io.folder, "a"), "of-a");
    chmodSync(join(io.folder, "a"), 0o640);
    expect(findEndpoint({ url, "token-file": "a" }, io).token).toBe("of-a");
    expect(String(io.stderr.read())).toMatch(
      /^Warning: others on this machine may read the token in .*chmod 600 it\.\n$/,
    );
  });

  it.each(["", "two words", '{"a":1}', "line\nbreak"])(
    "what is none (%j) is sent to nobody, and not repeated",
    (text) => {
      const io = testIo();
      writeFileSync(join(io.folder, "a"), text, { mode: 0o600 });
      expect(() => findEndpoint({ url, "token-file": "a" }, io)).toThrow(/a holds no token\.$/);
    },
  );

  it("a file that is not there is named", () => {
    expect(() => findEndpoint({ url, "token-file": "none" }, testIo())).toThrow(
      /token's file cannot be read: ENOENT.*none/,
    );
  });
});

it("a certificate must be one", () => {
  const io = testIo();
  writeFileSync(join(io.folder, "ca.pem"), "none");
  expect(() => findEndpoint({ url: "https://a.example", ca: "ca.pem" }, io)).toThrow(
    "ca.pem is no certificate in PEM.",
  );
  expect(() => findEndpoint({ url: "https://a.example", ca: "no.pem" }, io)).toThrow(Failure);
});
