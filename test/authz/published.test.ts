// The table of compatibility, the published operations, and the routes and tests that there are, say the same.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { describeApi } from "../../tools/generate-openapi.ts";
import { badInputsOf, WITHOUT_INPUT } from "./bad-input.ts";
import { endpoints, hiddenEndpoints } from "./endpoints.ts";
import { MEMBERS, missingOf, WITHOUT_MEMBERS } from "./members/members.ts";
import { listOperations } from "./openapi.ts";
import { mistakesOf, PUBLISHED, readTable, shapeOf, type Known } from "./published.ts";

const page = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const shapes = (operations: Iterable<string>) => new Set([...operations].map(shapeOf));

describe("the table of compatibility", () => {
  let known: Known;

  before(async () => {
    const routes: string[] = [];
    await describeApi(({ method, path }) => routes.push(`${method} ${path}`));
    const operations = await listOperations({ withFiles: true });
    const asked = operations.filter((one) => WITHOUT_INPUT.has(one.name) || badInputsOf(one).length > 0);
    const released = [...page("CHANGELOG.md").matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version = ""]) => version);
    known = {
      routes: shapes(routes),
      authorized: shapes(Object.keys({ ...endpoints, ...hiddenEndpoints })),
      badlyAsked: shapes(asked.map(({ name }) => name)),
      versions: new Set(["unreleased", ...released]),
    };
  });

  test("has every published operation, and calls present those with a route and tests, and no others", () => {
    const table = readTable(page("docs/compatibility.md"));
    assert.deepEqual(mistakesOf(table, known), []);
  });

  test("comes with the members that clients need, of each operation whose answer has any", () => {
    const told = [...Object.keys(MEMBERS), ...WITHOUT_MEMBERS];
    assert.deepEqual(told.toSorted(), [...PUBLISHED].toSorted());
    for (const lines of Object.values(MEMBERS)) assert.ok(lines.length > 0);
  });

  test("is wrong about an operation that lacks its route, its row, its bad input, its version or its place", () => {
    const shape = "GET /api/v0/things/{}";
    const name = "GET /api/v0/things/{thing_id}/";
    const complete: Known = {
      routes: new Set([shape]),
      authorized: new Set([shape]),
      badlyAsked: new Set([shape]),
      versions: new Set(["1.0.0"]),
    };
    const present = [{ operation: name, since: "1.0.0" }];
    const absent = [{ operation: name, since: "not yet" }];
    const nothing = new Set<string>();
    const told = (table: typeof present, lack: Partial<Known> = {}, all = [name]) =>
      mistakesOf(table, { ...complete, ...lack }, all);
    assert.deepEqual(told(present), []);
    assert.deepEqual(told(absent, { routes: nothing }), []);
    assert.deepEqual(told(absent), [`${name} is called "not yet" and has a route`]);
    assert.deepEqual(told(present, { routes: nothing }), [`${name} is called present and has no route`]);
    assert.deepEqual(told(present, { authorized: nothing }), [
      `${name} has no authorization row with a call that works`,
    ]);
    assert.deepEqual(told(present, { badlyAsked: nothing }), [`${name} has no test with bad input`]);
    assert.deepEqual(told(present, { versions: nothing }), [`${name} is since "1.0.0", which is no version`]);
    assert.deepEqual(told([]), [`${name} is published and has no row`]);
    assert.deepEqual(told(present, {}, []), [`${name} has a row and is not published`]);
    assert.deepEqual(told([...present, ...present]), [`${name} has two rows`]);
    assert.deepEqual(readTable(`| \`${name}\`  | 1.0.0    | A note |\n| Operation | Since |\n`), present);
  });
});

describe("the table of members", () => {
  const text = { type: "string" };
  const row = { type: "object", required: ["id"], properties: { id: text, note: text } };
  const described = {
    anyOf: [
      { type: "object", required: ["success"], properties: { success: text } },
      { type: "object", required: ["rows"], properties: { rows: { type: "array", items: row } } },
    ],
  };
  const lacking = (line: string, answer: unknown) => missingOf([line], answer, described);

  test("finds a member that the answer lacks, in it, in any row and in any value", () => {
    assert.deepEqual(lacking("success count", { success: true }), ["count"]);
    assert.deepEqual(lacking("rows[]: id name", { rows: [{ id: 1, name: null }, { id: 2 }] }), ["rows[].name"]);
    assert.deepEqual(lacking("[]: id", [{ id: 1 }, {}]), ["[].id"]);
    assert.deepEqual(lacking("keys.*[]: id", { keys: { a: [{ id: 1 }], b: [{}] } }), ["keys.*[].id"]);
    assert.deepEqual(lacking("rows[].id", { rows: {} }), ["rows[].id"]);
    assert.deepEqual(lacking("data.id", { data: { id: 1 } }), []);
    assert.deepEqual(lacking("id", "text"), ["id"]);
  });

  test("asks the description about the rows of an empty list, and about members that only some answers have", () => {
    assert.deepEqual(lacking("rows[]: id name", { rows: [] }), ["rows[].name"]);
    assert.deepEqual(
      lacking("rows[]: note", { rows: [] }),
      ["rows[].note"],
      "a member that may be absent is no promise",
    );
    assert.deepEqual(lacking("rows[]: note?", { rows: [{ id: 1 }] }), []);
    assert.deepEqual(lacking("rows?[]: id", {}), []);
    assert.deepEqual(lacking("other?", { rows: [] }), ["other?"]);
  });
});
