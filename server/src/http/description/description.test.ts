// The published description: every operation and field has a sentence, every request and answer an example that its schema
// accepts, and every route of the server is in it.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Compile } from "typebox/schema";
import { describeApi } from "../../../../tools/generate-openapi.ts";
import { inlineModels } from "../../../../test/support/openapi-models.ts";
import { FIELDS } from "./fields.ts";
import { OPERATIONS, TAGS } from "./operations.ts";
import type { Node } from "./schemas.ts";

type Media = { readonly schema: Node; readonly example?: unknown };
type Content = Readonly<Record<string, Media>>;
type Parameter = { readonly name: string; readonly description?: string; readonly example?: unknown; schema: Node };
type Operation = {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Node>> };
};

describe("the description of the API", () => {
  let document: Document;
  let inlined: Document;
  const routes: string[] = [];

  before(async () => {
    document = (await describeApi(({ method, path, operation }) => {
      // Pages for people, the files that they load, and the archive that agents load, are no part of the API.
      if (method !== "HEAD" && !/^(console|agent)\./.test(operation))
        routes.push(`${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    })) as Document;
    inlined = inlineModels(document);
  });

  const operationsOf = ({ paths }: Document) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
    );
  const expectNone = (mistakes: readonly string[]) => assert.deepEqual(mistakes, []);

  test("has every route that the server answers at", () => {
    const described = operationsOf(document).map(({ name }) => name);
    assert.deepEqual(described.toSorted(), [...new Set(routes)].toSorted());
  });

  test("has a summary, a description and a known tag for every operation, under an id of its own", () => {
    const known = new Set<string>(TAGS.map(({ name }) => name));
    const operations = operationsOf(document);
    expectNone(
      operations.flatMap(({ name, operation: { summary = "", description = "", tags = [] } }) => {
        const isTagged = tags.length === 1 && tags.every((tag) => known.has(tag));
        const isSaid = summary.length > 0 && description.length > summary.length / 2 && /[.)]$/.test(description);
        return isTagged && isSaid ? [] : [name];
      }),
    );
    const ids = operations.map(({ operation }) => operation.operationId);
    assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted());
  });

  test("has a description for every field and every parameter", () => {
    const fields = Object.entries(document.components.schemas).flatMap(([model, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, one]) => (hasText(one.description) ? [] : [`${model}.${field}`])),
    );
    const parameters = operationsOf(document).flatMap(({ name, operation }) =>
      (operation.parameters ?? []).flatMap((one) => (hasText(one.description) ? [] : [`${name} ${one.name}`])),
    );
    expectNone([...fields, ...parameters]);
  });

  test("begins every description with its subject", () => {
    const isLost = (text = "") =>
      /^(What|Of|Where|When|Whether|How|Who|Why|So|None|Nothing|Such|Else|It|These|Those|Since|Until|Waits|Instead)\b/.test(
        text,
      );
    const fields = Object.entries(document.components.schemas).flatMap(([model, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, one]) => (isLost(one.description) ? [`${model}.${field}`] : [])),
    );
    const operations = operationsOf(document).flatMap(({ name, operation: { description, parameters = [] } }) => [
      ...(isLost(description) ? [name] : []),
      ...parameters.flatMap((one) => (isLost(one.description) ? [`${name} ${one.name}`] : [])),
    ]);
    expectNone([...fields, ...operations]);
  });

  test("has an example for every parameter, request and answer, which its schema accepts", () => {
    const mistakeOf = (place: string, { schema, example }: Media) => {
      if (example === undefined) return [`${place}: no example`];
      // As a client receives it: what cannot be said in JSON is gone.
      const [, errors] = Compile(schema).Errors(JSON.parse(JSON.stringify(example)));
      return errors.slice(0, 1).map(({ instancePath, message }) => `${place}: ${instancePath} ${message}`);
    };
    expectNone(
      operationsOf(inlined).flatMap(({ name, operation: { parameters = [], requestBody, responses } }) => [
        ...parameters.flatMap((one) => mistakeOf(`${name} ${one.name}`, one)),
        ...Object.values(requestBody?.content ?? {}).flatMap((media) => mistakeOf(`${name} request`, media)),
        ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
          Object.values(content).flatMap((media) => mistakeOf(`${name} ${status}`, media)),
        ),
      ]),
    );
  });

  test("names its models, and nests no object without a name", () => {
    const names = Object.keys(document.components.schemas);
    assert.ok(names.length > 300, `${names.length} models`);
    expectNone(names.filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name)));
    const unnamed = (node: unknown, place: string): readonly string[] => {
      if (typeof node !== "object" || node === null) return [];
      const own = "properties" in node && "type" in node ? [place] : [];
      return [...own, ...Object.entries(node).flatMap(([key, one]) => unnamed(one, `${place}.${key}`))];
    };
    const fields = Object.entries(document.components.schemas).flatMap(([model, { properties }]) =>
      Object.entries(properties ?? {}).flatMap(([field, one]) => unnamed(one, `${model}.${field}`)),
    );
    expectNone([...fields, ...operationsOf(document).flatMap(({ name, operation }) => unnamed(operation, name))]);
  });

  test("uses every sentence that is written for it", () => {
    const schemas = Object.entries(document.components.schemas);
    const inModels = schemas.flatMap(([model, { properties = {} }]) =>
      Object.keys(properties).flatMap((field) => [field, `${model}.${field}`]),
    );
    const operations = operationsOf(document).map(({ operation }) => operation);
    const inParameters = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.flatMap(({ name }) => [name, `${ownerOf(operationId)}.${name}`]),
    );
    const known = new Set([...inModels, ...inParameters]);
    expectNone(Object.keys(FIELDS).filter((name) => !known.has(name)));
    const ids = new Set(operations.map(({ operationId }) => operationId));
    expectNone(Object.keys(OPERATIONS).filter((operation) => !ids.has(operation)));
  });
});

function hasText(text: string | undefined): boolean {
  return text !== undefined && text.trim().length > 3;
}

/** `ApikeyCreate` of `api.apikey.create`. */
function ownerOf(operationId: string): string {
  const words = operationId.replace(/^api\.|\.alias\d*$/g, "").split(/[^A-Za-z0-9]+/);
  return words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join("");
}
