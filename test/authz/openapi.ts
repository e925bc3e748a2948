import { Compile } from "typebox/schema";
import { describeApi } from "../../tools/generate-openapi.ts";
import { inlineModels } from "../support/openapi-models.ts";

export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
};

type Media = { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
type Parameter = { readonly in: string; readonly name: string; readonly schema: JsonSchema };
type Described = {
  readonly "x-sdk"?: boolean;
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media>>;
};

/** One operation of the OpenAPI document, with checkers of its answers. */
export type ApiOperation = {
  /** The name of the operation, such as `GET /api/v0/template/`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | undefined;
  /** The schema of a good answer. */
  readonly answer: JsonSchema | undefined;
  /** The fault of an answer of this status by its schema; undefined when it is as declared. */
  problemOf(status: number, body: unknown): string | undefined;
};

const METHODS = ["get", "post", "put", "delete", "patch"] as const;

/**
 * Every JSON operation of the document that the server describes itself with now; with `withFiles` also those whose input
 * or output is a file, a page or a stream.
 */
export async function listOperations({ withFiles = false } = {}): Promise<readonly ApiOperation[]> {
  const { paths = {} } = inlineModels(await describeApi());
  return Object.entries(paths).flatMap(([path, item]) => {
    const byMethod: Readonly<Record<string, Described>> = { ...item };
    return METHODS.flatMap((method) => {
      const described = byMethod[method];
      return described === undefined || (described["x-sdk"] === false && !withFiles)
        ? []
        : [operationOf(method.toUpperCase(), path, described)];
    });
  });
}

function operationOf(method: string, path: string, described: Described): ApiOperation {
  const checkers = new Map(
    Object.entries(described.responses).flatMap(([status, media]) => {
      const schema = schemaOf(media);
      return schema === undefined ? [] : [[status.toUpperCase(), Compile(schema)] as const];
    }),
  );
  return {
    name: `${method} ${path}`,
    method,
    path,
    operationId: described.operationId,
    parameters: described.parameters ?? [],
    body: described.requestBody === undefined ? undefined : schemaOf(described.requestBody),
    answer: described.responses["200"] && schemaOf(described.responses["200"]),
    problemOf(status, body) {
      const checker = checkers.get(String(status)) ?? checkers.get(`${String(status)[0]}XX`);
      if (checker === undefined) return `status ${status} is not declared`;
      if (checker.Check(body)) return undefined;
      const [, errors] = checker.Errors(body);
      return JSON.stringify(errors.slice(0, 3));
    },
  };
}

function schemaOf(media: Media): JsonSchema | undefined {
  return media.content?.["application/json"]?.schema;
}
