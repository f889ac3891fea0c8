import type { OpenAPIHono } from "@hono/zod-openapi";
import { html, raw } from "hono/html";
import type { ApiEnv } from "./authenticate.ts";

/** The API's description of itself, for programs and for people. It needs no token. */
export function addReference(api: OpenAPIHono<ApiEnv>): void {
  api.openAPIRegistry.registerComponent("securitySchemes", "token", {
    type: "http",
    scheme: "bearer",
    description:
      "One of the tokens in the secret POLICY_TOKENS. A call that changes something needs a token that may write.",
  });
  let document: Document | undefined;
  const describe = (): Document =>
    (document ??= api.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "adaptive-h3 policy API",
        version: "1",
        description: "Changes the policy of a running worker, explains its decisions, and decides for other callers.",
        license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
      },
      tags: [...new Set(api.openAPIRegistry.definitions.flatMap((one) => (one.type === "route" ? one.route.tags : [])))]
        .filter((name) => name !== undefined)
        .map((name) => ({ name })),
    }));
  api.get("/openapi.json", (c) => c.json(describe()));
  api.get("/reference", (c) => {
    // The page loads nothing and runs nothing; it holds its own style.
    c.header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    return c.html(referencePage(describe()));
  });
}

// The OpenAPI document as one page of HTML that loads nothing else.

type Document = ReturnType<OpenAPIHono["getOpenAPI31Document"]>;
type Operation = NonNullable<NonNullable<Document["paths"]>[string]["get"]>;
type Content = Readonly<Record<string, { readonly schema?: object }>>;

type Html = ReturnType<typeof html>;

const METHODS = ["get", "post", "put", "delete"] as const;

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
  code, pre { font: 0.9em/1.45 ui-monospace, monospace; }
  pre { overflow-x: auto; padding: 0.75rem; background: #8882; border-radius: 4px; }
  h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; }
  h3 { margin: 2rem 0 0.5rem; } h3 code { font-size: 1rem; }
  table { border-collapse: collapse; } td { padding: 0.15rem 1rem 0.15rem 0; vertical-align: top; }
  .method { display: inline-block; min-width: 4.5rem; font-weight: bold; }
`;

function referencePage(document: Document): Html {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => (methods[method] ? [{ path, method, ...methods[method] }] : [])),
  );
  const tags = [...new Set(operations.flatMap(({ tags: names }) => names ?? []))];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title}</title>
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <h1>${document.info.title}</h1>
        <p>${document.info.description}</p>
        <p>
          Calls need <code>Authorization: Bearer &lt;token&gt;</code>, unless they say that they need no token. Bodies
          are JSON. Refusals are problem details (RFC 9457), with a JSON pointer to every fault.
          <a href="openapi.json">openapi.json</a> says the same for programs.
        </p>
        ${tags.map(
          (tag) =>
            html`<h2 id="${tag}">${tag}</h2>
              ${operations.filter((operation) => operation.tags?.includes(tag)).map(operationSection)}`,
        )}
        <h2 id="schemas">Schemas</h2>
        ${Object.entries(document.components?.schemas ?? {}).map(
          ([name, schema]) =>
            html`<h3 id="schema-${name}">${name}</h3>
              <pre>${linked(JSON.stringify(schema, null, 2))}</pre>`,
        )}
      </body>
    </html>`;
}

function operationSection(operation: Operation & { path: string; method: string }): Html {
  const { path, method, summary, description, security, parameters = [], requestBody } = operation;
  const responses = operation.responses as Record<string, { description: string; content?: Content }>;
  const rows = [
    ...parameters.map((parameter) => {
      if ("$ref" in parameter) return [];
      const { name, in: part, required, description: text, schema } = parameter;
      const about = [text, bounds(schema)].filter(Boolean).join("; ");
      return [name, `${part}${required === true ? ", required" : ""}`, coded(about)];
    }),
    ...(requestBody === undefined || "$ref" in requestBody ? [] : [requestBody]).map(({ required, content }) => [
      "body",
      required === true ? "required" : "optional",
      schemaLink(content["application/json"]?.schema),
    ]),
    ...Object.entries(responses).map(([status, { description: text, content = {} }]) => [
      status,
      coded(text),
      schemaLink(Object.values(content)[0]?.schema),
    ]),
  ];
  return html`<section>
    <h3>
      <code><span class="method">${method.toUpperCase()}</span>${path}</code>
    </h3>
    <p>${summary}.${security === undefined ? " Needs no token." : ""} ${coded(description ?? "")}</p>
    <table>
      ${rows.map(
        ([name, ...cells]) =>
          html`<tr>
            <td><code>${name}</code></td>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </table>
  </section>`;
}

function schemaLink(schema: object = {}): Html | string {
  const { $ref = "" } = schema as { readonly $ref?: string };
  const name = /^#\/components\/schemas\/(.+)$/.exec($ref)?.[1];
  return name === undefined ? "" : html`<a href="#schema-${name}">${name}</a>`;
}

function bounds(schema: object = {}): string {
  return Object.entries(schema)
    .filter(([keyword]) => ["minimum", "maximum", "default", "pattern"].includes(keyword))
    .map(([keyword, value]) => `${keyword} ${JSON.stringify(value)}`)
    .join(", ");
}

/** Sets text in backticks as code. */
function coded(text: string): (Html | string)[] {
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`));
}

/** A schema's text, with its references as links. */
function linked(text: string): (Html | string)[] {
  return text.split(/("#\/components\/schemas\/[^"]+")/).map((part) => {
    const name = /^"#\/components\/schemas\/(.+)"$/.exec(part)?.[1];
    return name === undefined ? part : html`<a href="#schema-${name}">${name}</a>`;
  });
}
