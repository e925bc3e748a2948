import { Describer, type Node } from "./schemas.ts";
import { plainPaths } from "./plain-paths.ts";
import { descriptionOf, exampleFor, pathWords, tagOf, TAGS } from "./operations.ts";
import { FIELDS } from "./fields.ts";
import { queryWords } from "./fields/parameters.ts";

type Media = { schema: Node; example?: unknown };
type Response = { description: string; content?: Record<string, Media>; $ref?: string };
type Parameter = { name: string; in: string; description?: string; example?: unknown; schema: Node };
type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags?: readonly string[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
};
type Paths = Record<string, Record<string, Operation>>;
type Document = { paths?: object; components?: object };

/** The failures that every operation can answer, each written once among the components. */
const SHARED_RESPONSES: Readonly<Record<string, string>> = { "4XX": "Refused", "5XX": "Failed", "429": "RateLimited" };

/**
 * The published form of the document that @fastify/swagger makes from the routes: schemas have names and stand once among
 * the components, and operations and fields have descriptions and examples. Validators and serializers never see it.
 */
export function describeDocument(document: object): object {
  const { paths = {}, components = {} } = document as Document;
  const describer = new Describer(FIELDS);
  const responses: Record<string, Response> = {};
  const described = Object.entries(paths as Paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [method, describeOperation(operation, describer, responses)]),
    ),
  ]);
  const plain = plainPaths(describer);
  return {
    ...document,
    tags: TAGS,
    components: { ...components, schemas: describer.models(), responses },
    paths: { ...Object.fromEntries(described), ...plain },
  };
}

function describeOperation(operation: Operation, describer: Describer, shared: Record<string, Response>): Operation {
  const { operationId, summary, description, tags, parameters, requestBody, responses, ...others } = operation;
  const name = operationId.replace(/\.alias\d*$/, "");
  const said = [descriptionOf(name), description].filter((text) => text !== undefined).join(" ");
  return {
    operationId,
    summary,
    ...(said === "" ? {} : { description: said }),
    tags: tags ?? [tagOf(name)],
    ...others,
    ...(parameters && { parameters: parameters.map((parameter) => describeParameter(name, parameter, describer)) }),
    ...(requestBody && {
      requestBody: { required: isNeeded(requestBody), content: bodyOf(name, requestBody, describer) },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => {
        const sharedName = SHARED_RESPONSES[status];
        const answer = answerOf({ name, status }, response, describer);
        if (sharedName === undefined) return [status, answer];
        shared[sharedName] = answer;
        return [status, { $ref: `#/components/responses/${sharedName}` } as Response];
      }),
    ),
  };
}

/** False for a body without required fields: the server takes none for an empty object. */
function isNeeded({ content }: { readonly content: Readonly<Record<string, Media>> }): boolean {
  return Object.values(content).some(({ schema }) => (schema.required ?? []).length > 0);
}

function describeParameter(operation: string, parameter: Parameter, describer: Describer): Parameter {
  const { description, schema, example: _example, ...others } = parameter;
  const { name } = parameter;
  const isText = parameter.schema.type === "string";
  const words = parameter.in === "path" ? pathWords(operation, name, isText) : queryWords(operation, name);
  const { schema: shown, example } = describer.describe(
    { ...(description === undefined ? {} : { description }), ...schema },
    { owner: modelName(operation), words },
  );
  const { description: said, ...rest } = shown;
  return { ...others, schema: rest, description: String(said ?? ""), example };
}

function bodyOf(operation: string, { content }: { content: Record<string, Media> }, describer: Describer) {
  const entries = Object.entries(content).map(([type, { schema }]) => {
    const name = `${modelName(operation)}Request`;
    const { schema: shown, example } = describer.describe(schema, { owner: name, name, isRequest: true });
    return [type, { schema: shown, example: exampleFor(operation, "request") ?? example }];
  });
  return Object.fromEntries(entries) as Record<string, Media>;
}

function answerOf(
  { name: operation, status }: { readonly name: string; readonly status: string },
  { description, content }: Response,
  describer: Describer,
): Response {
  if (content === undefined) return { description };
  const name = status === "200" ? `${modelName(operation)}Response` : `${modelName(operation)}${status}`;
  const entries = Object.entries(content).map(([type, { schema }]) => {
    const { schema: shown, example } = describer.describe(schema, { owner: name, name });
    const said = status === "200" ? exampleFor(operation, "response") : undefined;
    return [type, { schema: shown, example: said ?? example }];
  });
  const said = description === "Default Response" ? "Success" : description;
  return { description: said, content: Object.fromEntries(entries) as Record<string, Media> };
}

/** `api.network_volume.list` becomes `NetworkVolumeList`, the start of the names of its own models. */
function modelName(operation: string): string {
  const words = operation.replace(/^api\./, "").split(/[^A-Za-z0-9]+/);
  return words.map((word) => `${word[0]?.toUpperCase() ?? ""}${word.slice(1)}`).join("");
}
