import { beforeEach, describe, expect, it } from "vitest";
import type { JsonSchema } from "../decision/parse.ts";
import { readPolicy } from "../decision/policy.ts";
import { type ApiDocument, apiDocument, callApi, CALLS, send, type TestPorts, testPorts } from "./testing.ts";

let ports: TestPorts;
let document: ApiDocument;
beforeEach(async () => {
  ports = await testPorts();
  document = await apiDocument(ports);
});

/** Every value in a document with its place. */
function* walk(value: unknown, place = ""): Generator<readonly [place: string, value: unknown]> {
  yield [place, value];
  if (typeof value === "object" && value !== null)
    for (const [name, part] of Object.entries(value)) yield* walk(part, `${place}/${name.replaceAll("/", "~1")}`);
}
/** The keywords of JSON Schema 2020-12 that the document uses; `example` is OpenAPI's. */
const KEYWORDS =
  "type enum const format pattern minimum maximum minLength maxLength minItems maxItems items properties required " +
  "additionalProperties oneOf anyOf allOf not $ref description default example";

/** A schema and all schemas in it. */
function* schemasIn(schema: JsonSchema): Generator<JsonSchema> {
  yield schema;
  const { properties = {}, items, not, additionalProperties, oneOf = [], anyOf = [], allOf = [] } = schema;
  for (const part of [properties, oneOf, anyOf, allOf, [items, not, additionalProperties]].flatMap((parts) =>
    Object.values(parts as object),
  ))
    if (typeof part === "object" && part !== null) yield* schemasIn(part as JsonSchema);
}
const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
/** Of an answer that is no problem. */
const typeOf = (path: string): string => (path === "/_h3/v1/metrics" ? "text/plain" : "application/json");
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

describe("openapi.json", () => {
  it("is OpenAPI 3.1, for anybody", async () => {
    const reply = await callApi(ports, "GET", "openapi.json", { token: "" });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
  });

  it("has every call, each described, in a group that is described too", () => {
    const described = operations().map(({ method, path }) => `${method.toUpperCase()} ${path.replace("/_h3/v1/", "")}`);
    expect(described.toSorted()).toEqual(
      [...CALLS.map(({ method, template }) => `${method} ${template}`), "GET health"].toSorted(),
    );
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations()) {
      expect(operation["summary"]).toEqual(expect.any(String));
      for (const tag of operation["tags"] as string[]) expect(tags).toContain(tag);
    }
    const used = new Set(operations().flatMap(({ operation }) => operation["tags"] as string[]));
    expect([...used].toSorted()).toEqual(tags.toSorted());
    const ids = operations().map(({ operation }) => operation["operationId"]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
  });

  it("refers to nothing that is not in it", () => {
    for (const [place, value] of walk(document))
      if (place.endsWith("/$ref")) {
        expect(value).toMatch(/^#\/components\/schemas\/[A-Za-z]+$/);
        expect(document.components.schemas).toHaveProperty(String(value).split("/").at(-1) ?? "");
      }
    const ids = new Set(operations().map(({ operation }) => operation["operationId"]));
    for (const [place, value] of walk(document.paths))
      if (/\/links\/\w+\/operationId$/.test(place)) expect(ids).toContain(value);
  });

  it("declares what is in each path, what each body must be, and which If-Match is needed", () => {
    for (const { path, method, operation } of operations()) {
      const parameters = (operation["parameters"] ?? []) as Parameter[];
      const inPath = parameters.filter((parameter) => parameter.in === "path");
      expect(inPath.map(({ name }) => `{${name}}`).toSorted()).toEqual((path.match(/\{\w+\}/g) ?? []).toSorted());
      expect(inPath.every(({ required }) => required)).toBe(true);
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(names).size).toBe(names.length);
      for (const { schema } of parameters) expect(schema).toHaveProperty("type");
      const ifMatch = parameters.find(({ name }) => name === "if-match");
      const changesActivation = path.startsWith("/_h3/v1/activation") && method !== "get";
      expect([path, ifMatch?.required ?? false]).toEqual([path, changesActivation]);
      expect([path, "428" in operation.responses, "412" in operation.responses]).toEqual([
        path,
        changesActivation,
        changesActivation || (path === "/_h3/v1/policies" && method === "post"),
      ]);
      const body = operation["requestBody"] as { required?: boolean; content: object } | undefined;
      expect(body === undefined).toBe(["get", "delete"].includes(method));
      if (body !== undefined) {
        expect(Object.keys(body.content)).toEqual(["application/json"]);
        expect([path, body.required ?? false]).toEqual([path, !path.endsWith("/rollback")]);
      }
    }
  });

  it("says of each call which token it wants, and of each reply what it is", () => {
    expect(document.components.securitySchemes).toMatchObject({ token: { type: "http", scheme: "bearer" } });
    for (const { path, operation } of operations()) {
      const isOpen = path === "/_h3/v1/health";
      expect([path, operation["security"]]).toEqual([path, isOpen ? undefined : [{ token: [] }]]);
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(response).toHaveProperty("description", expect.stringMatching(/./));
        const types = Object.keys(response.content ?? {});
        const isProblem = Number(status) >= 400 && !isOpen;
        expect([path, status, types]).toEqual([
          path,
          status,
          status === "304" ? [] : [isProblem ? "application/problem+json" : typeOf(path)],
        ]);
      }
      if (!isOpen)
        for (const status of ["400", "401", "403", "429", "503"]) expect(operation.responses).toHaveProperty(status);
    }
  });

  it("has schemas of JSON Schema 2020-12 only, with patterns that can be read", () => {
    for (const [place, value] of walk(document.components.schemas)) {
      // OpenAPI 3.0's own words mean nothing in 3.1.
      expect(place).not.toMatch(/\/(nullable|discriminator|exclusiveMinimum\/true)$/);
      if (place.endsWith("/pattern")) expect(() => new RegExp(String(value), "u"), place).not.toThrow();
      if (place.endsWith("/type") && !place.includes("/properties/type"))
        for (const type of [value].flat())
          expect(["null", "boolean", "string", "number", "integer", "array", "object"], place).toContain(type);
      if (place.endsWith("/required") && Array.isArray(value)) expect(new Set(value).size).toBe(value.length);
    }
  });

  it("has no keyword that validators do not know, as what it asks for would go unchecked", () => {
    for (const schema of Object.values(document.components.schemas).flatMap((named) => [...schemasIn(named)]))
      for (const keyword of Object.keys(schema)) expect(KEYWORDS.split(" ")).toContain(keyword);
  });

  it("shows a policy as it is read", () => {
    expect(document.components.schemas["Policy"]).toEqual(JSON.parse(JSON.stringify(readPolicy.schema)));
  });

  it("is the same each time, and for everybody", async () => {
    const text = async () => (await send(ports, new Request("https://site.test/_h3/v1/openapi.json"))).text();
    const first = await text();
    ports.tokens = [];
    expect(await text()).toBe(first);
  });
});

describe("the reference", () => {
  const page = async (): Promise<string> => (await callApi(ports, "GET", "reference", { token: "" })).text;

  it("is a page that loads nothing and runs nothing", async () => {
    const reply = await callApi(ports, "GET", "reference", { token: "" });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(reply.headers.get("content-security-policy")).toMatch(/default-src 'none'/);
    expect(reply.headers.get("content-security-policy")).toMatch(/frame-ancestors 'none'/);
    expect(reply.text).toMatch(/^<!doctype html>/);
    expect(reply.text).not.toMatch(/<(script|link|img|iframe|object|embed|base|form|svg|video|audio)\b/i);
    expect(reply.text).not.toMatch(/\son\w+\s*=|javascript:|@import|url\(/i);
    const references = [...reply.text.matchAll(/\b(?:href|src|action|srcset)="([^"]*)"/g)].map(([, target]) => target);
    expect(references.length).toBeGreaterThan(30);
    for (const target of references) expect(target).toMatch(/^(#|openapi\.json$)/);
  });

  it("has every call, every reply and every schema", async () => {
    const text = await page();
    for (const { path, method, operation } of operations()) {
      expect(text).toContain(`<span class="method">${method.toUpperCase()}</span>${path}`);
      expect(text).toContain(String(operation["summary"]).replaceAll("'", "&#39;"));
      for (const status of Object.keys(operation.responses)) expect(text).toContain(`<code>${status}</code>`);
    }
    for (const name of Object.keys(document.components.schemas)) expect(text).toContain(`id="schema-${name}"`);
  });

  it("leads to places that are there, each there once", async () => {
    const text = await page();
    const ids = [...text.matchAll(/\bid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of text.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(target);
  });

  it("opens and closes every element", async () => {
    const open: string[] = [];
    for (const [, slash, name] of (await page()).matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
      if (name === undefined || name === "meta") continue;
      if (slash === "") open.push(name);
      else expect(open.pop()).toBe(name);
    }
    expect(open).toEqual([]);
  });

  it("sets what is in backticks as code, and bounds apart from what they bound", async () => {
    expect(await page()).toContain("<code>next</code> of the previous page; minimum 0");
  });

  it("writes text as text, whatever a description holds", async () => {
    expect(await page()).toContain("Authorization: Bearer &lt;token&gt;");
    expect(await page()).not.toMatch(/undefined|\[object Object\]|NaN/);
  });
});
