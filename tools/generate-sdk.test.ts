import assert from "node:assert/strict";
import { test } from "node:test";
import { generateSdk } from "./generate-sdk.ts";
import { typeText, type Schema } from "./schema-type.ts";

const types: readonly (readonly [Schema, string])[] = [
  [{ type: "integer", minimum: 1 } as Schema, "number"],
  [{ const: "me" }, '"me"'],
  [{ enum: ["a", "b", null] }, '"a" | "b" | null'],
  [{ anyOf: [{ type: "number" }, { type: "integer" }, { type: "string" }] }, "number | string"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }, "readonly (string | null)[]"],
  [{ type: "array", items: { type: "array", items: { type: "string" } } }, "readonly (readonly string[])[]"],
  [{ type: "array", items: [{ type: "string" }, { type: "number" }] }, "readonly [string, number]"],
  [{}, "unknown"],
  [{ type: "object", additionalProperties: true }, "Readonly<Record<string, unknown>>"],
  [{ type: "object", patternProperties: { "^.*$": { type: "number" } } }, "Readonly<Record<string, number>>"],
  [
    { type: "object", properties: { id: { type: "integer" }, "a-b": { type: "string" } }, required: ["id"] },
    '{\n  readonly id: number;\n  readonly "a-b"?: string;\n}',
  ],
];

for (const [schema, text] of types) {
  test(`${JSON.stringify(schema)} is typed ${text.replaceAll("\n", " ")}`, () => {
    assert.equal(typeText(schema, 0), text);
  });
}

test("a schema that the generator does not know stops it", () => {
  assert.throws(() => typeText({ type: "tuple" }, 0), /no TypeScript type/);
});

const json = (schema: Schema) => ({ content: { "application/json": { schema } } });
const openApi = {
  paths: {
    "/api/v0/asks/{id}/": {
      put: {
        operationId: "api.instance.create_from_ask",
        summary: "Create an instance",
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "integer" } },
          { name: "limit", in: "query", schema: { type: "integer" } },
        ],
        requestBody: json({ type: "object", properties: { image: { type: "string" } } }),
        responses: { "200": json({ type: "object", properties: { new_contract: { type: "integer" } } }) },
      },
    },
    "/healthz": { get: { operationId: "health", responses: {} } },
  },
};

test("an answer that is no JSON comes as bytes", () => {
  const responses = { "200": { content: { "application/pdf": { schema: { type: "string" } } } } };
  const text = generateSdk({ paths: { "/invoice": { get: { operationId: "api.invoice.pdf", responses } } } });
  assert.ok(text.includes("export type InvoicePdfAnswer = Uint8Array;"));
  assert.ok(text.includes('return client.download({ method: "GET", path: "/invoice" }, options);'));
});

test("an operation becomes a function of its path parameters, query and body", () => {
  const text = generateSdk(openApi);
  assert.match(
    text,
    /export function instanceCreateFromAsk\(client: Client, input: InstanceCreateFromAskInput, options/,
  );
  assert.ok(text.includes("path: `/api/v0/asks/${encodeURIComponent(input.id)}/`"));
  assert.ok(text.includes("  readonly id: number;\n  readonly query?: {\n    readonly limit?: number;\n  };"));
  assert.ok(text.includes("  readonly body?: {\n    readonly image?: string;\n  };"));
  assert.match(text, /export function health\(client: Client, options\?: CallOptions\): Promise<HealthAnswer>/);
});

test("an answer that depends on a switch in the body has a signature for the switch set, not set, and unknown", () => {
  const body = { $ref: "#/components/schemas/Order" };
  const dryRun = { type: "boolean" };
  const forecast: Schema = { type: "object", properties: { dry_run: { type: "boolean", enum: [true] } } };
  const signaturesOf = (kinds: readonly string[]) => {
    const oneOf = kinds.map((kind) => ({ $ref: `#/components/schemas/${kind}` }));
    const order = { operationId: "api.rent", requestBody: json(body), responses: { "200": json({ oneOf }) } };
    const text = generateSdk({
      paths: { "/rent": { post: order } },
      components: {
        schemas: {
          Order: { type: "object", properties: { dry_run: dryRun } },
          Rented: { type: "object", properties: { id: { type: "integer" } } },
          Queued: { type: "object", properties: { place: { type: "integer" } } },
          Forecast: forecast,
        },
      },
    });
    return [...text.matchAll(/^export function rent\(client: Client, input: (.*), options.*Promise<(\w+)>;$/gm)].map(
      ([, input, answer]) => [input, answer],
    );
  };
  const expected = [
    ["RentInput & { readonly body: { readonly dry_run: true } }", "Forecast"],
    ["RentInput & { readonly body?: { readonly dry_run?: false } }", "Rented"],
    ["RentInput", "RentAnswer"],
  ];
  assert.deepEqual(signaturesOf(["Rented", "Forecast"]), expected);
  assert.deepEqual(signaturesOf(["Forecast", "Rented"]), expected);
  assert.deepEqual(signaturesOf(["Rented", "Queued"]), [], "neither kind has a switch");
});

test("an alias, another path or another method of one operation, gets no function", () => {
  const show = { operationId: "api.disk.show" };
  const text = generateSdk({
    paths: { "/disk/": { get: show, post: show }, "/disks/": { get: { operationId: "api.disk.show.alias" } } },
  });
  assert.deepEqual(text.match(/export function \w+/g), ["export function diskShow"]);
  assert.ok(text.includes('method: "GET", path: "/disk/"'));
});

test("two operations of one name stop the generator", () => {
  const paths = { "/x": { get: { operationId: "a.b" } }, "/y": { get: { operationId: "a_b" } } };
  assert.throws(() => generateSdk({ paths }), /two operations/);
});
