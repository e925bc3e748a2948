// Writes sdk/src/operations.ts from server/openapi.json: types, and one thin function per operation, named after its
// operation id: `api.instance.show` becomes `instanceShow`. With --check it only says whether the file is up to date.
import { readFileSync } from "node:fs";
import path from "node:path";
import { writeOrCheck } from "./generated-file.ts";
import { isValidIdentifier, modelName, typeText, type Schema } from "./schema-type.ts";

type Parameter = { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: Schema };
type Content = Readonly<Partial<Record<string, { readonly schema: Schema }>>>;
type Operation = {
  readonly operationId: string;
  /** False for operations that the SDK leaves out: files, certificates, and streams. */
  readonly "x-sdk"?: boolean;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
};
type Models = Readonly<Record<string, Schema>>;
export type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Models };
};

const HEADER = `// Made by tools/generate-sdk.ts from server/openapi.json. Do not edit: change the schemas and run \`npm run api:generate\`.
import type { CallOptions, Client } from "./client.ts";
`;

/** The whole text of operations.ts: the models, then operations in the order of the document. An alias gets none. */
export function generateSdk({ paths, components }: OpenApi): string {
  const models = components?.schemas ?? {};
  const types = Object.entries(models).map(([name, schema]) => `export type ${name} = ${typeText(schema, 0)};\n`);
  const routes = new Map<string, string>();
  const parts = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const name = functionName(operation.operationId);
      const isAlias = routes.get(name) === route || /\.alias\d*$/.test(operation.operationId);
      if (isAlias || operation["x-sdk"] === false) return [];
      if (routes.has(name)) throw new Error(`two operations would be called ${name}: ${routes.get(name)} and ${route}`);
      routes.set(name, route);
      return [operationText({ name, method: method.toUpperCase(), route }, operation, models)];
    }),
  );
  return [HEADER, ...types, ...parts].join("\n");
}

type Call = { readonly name: string; readonly method: string; readonly route: string };

function operationText({ name, method, route }: Call, operation: Operation, models: Models): string {
  const parameters = operation.parameters ?? [];
  const pathParameters = parameters.filter((parameter) => parameter.in === "path");
  const queryParameters = parameters.filter((parameter) => parameter.in === "query");
  const body = operation.requestBody?.content["application/json"]?.schema;
  const answers = operation.responses?.["200"]?.content ?? {};
  const answer = answers["application/json"]?.schema;
  // An answer that is no JSON, such as a PDF, comes as bytes.
  const isFile = answer === undefined && Object.keys(answers).length > 0;

  const fields = pathParameters.map(({ name: field, schema }) => `  readonly ${field}: ${typeText(schema, 1)};`);
  if (queryParameters.length > 0) {
    const isRequired = queryParameters.some((parameter) => parameter.required);
    fields.push(`  readonly query${isRequired ? "" : "?"}: ${typeText(objectOf(queryParameters), 1)};`);
  }
  if (body !== undefined) {
    fields.push(`  readonly body${isOptional(body, models) ? "?" : ""}: ${typeText(body, 1)};`);
  }
  const typeName = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const hasInput = fields.length > 0;
  const isInputOptional = fields.every((field) => /^ {2}readonly \w+\?:/.test(field));
  const input = hasInput ? `input: ${typeName}Input${isInputOptional ? " = {}" : ""}, ` : "";
  const call = [
    `method: "${method}"`,
    `path: ${pathText(route, pathParameters)}`,
    ...(queryParameters.length > 0 ? ["query: input.query"] : []),
    ...(body === undefined ? [] : ["body: input.body ?? {}"]),
  ];
  return [
    ...(hasInput ? [`export type ${typeName}Input = {\n${fields.join("\n")}\n};\n`] : []),
    `export type ${typeName}Answer = ${isFile ? "Uint8Array" : answer === undefined ? "unknown" : typeText(answer, 0)};\n`,
    `/** ${operation.summary ?? operation.operationId}: \`${method} ${route}\` */`,
    ...switchedSignatures({ name, typeName }, { body, answer, models }),
    `export function ${name}(client: Client, ${input}options?: CallOptions): Promise<${typeName}Answer> {`,
    `  return client.${isFile ? "download" : "request"}({ ${call.join(", ")} }, options);`,
    "}\n",
  ].join("\n");
}

/**
 * Signatures of an operation whose answer depends on a switch in its body, such as `dry_run`: one for the switch set, one
 * for the switch not set, and one for a switch that is known at run time only. None for any other operation.
 */
function switchedSignatures(
  { name, typeName }: { readonly name: string; readonly typeName: string },
  {
    body,
    answer,
    models,
  }: { readonly body: Schema | undefined; readonly answer: Schema | undefined; readonly models: Models },
): readonly string[] {
  const fields = Object.keys(resolve(body ?? {}, models).properties ?? {});
  const kinds = (answer?.anyOf ?? answer?.oneOf ?? []).map((kind) => ({
    type: typeText(kind, 0),
    // The member that is always true in this kind of answer, and that a body may have.
    field: fields.find((field) => typeText(resolve(kind, models).properties?.[field] ?? {}, 0) === "true"),
  }));
  const [switched] = kinds.filter(({ field }) => field !== undefined);
  const [plain, ...others] = kinds.filter(({ field }) => field === undefined);
  if (switched === undefined || plain === undefined || others.length > 0) return [];
  const signature = (input: string, type: string) =>
    `export function ${name}(client: Client, input: ${input}, options?: CallOptions): Promise<${type}>;`;
  const withBody = (optional: string, value: boolean) =>
    `${typeName}Input & { readonly body${optional}: { readonly ${switched.field}${optional}: ${value} } }`;
  return [
    signature(withBody("", true), switched.type),
    signature(withBody("?", false), plain.type),
    signature(`${typeName}Input`, `${typeName}Answer`),
  ];
}

/** `api.network_volume.list` becomes `networkVolumeList`. */
function functionName(operationId: string): string {
  const [first = "", ...others] = operationId.replace(/^api\./, "").split(/[^A-Za-z0-9]+/);
  const name = first + others.map((word) => `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}`).join("");
  if (!isValidIdentifier(name)) throw new Error(`the operation id ${operationId} makes no function name`);
  return name;
}

function pathText(route: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return JSON.stringify(route);
  return `\`${route.replace(/\{(\w+)\}/g, (_whole, field: string) => `\${encodeURIComponent(input.${field})}`)}\``;
}

function objectOf(parameters: readonly Parameter[]): Schema {
  return {
    type: "object",
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name),
  };
}

function resolve(schema: Schema, models: Models): Schema {
  return (schema.$ref === undefined ? schema : models[modelName(schema.$ref)]) ?? {};
}

/** A body without required keys may be left out: the server takes none for an empty object. */
function isOptional(reference: Schema, models: Models): boolean {
  const schema = resolve(reference, models);
  return schema.type === "object" && (schema.required ?? []).length === 0;
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, "..");
  const openApi: OpenApi = JSON.parse(readFileSync(path.join(root, "server/openapi.json"), "utf8"));
  writeOrCheck(path.join(root, "sdk/src/operations.ts"), generateSdk(openApi));
}
