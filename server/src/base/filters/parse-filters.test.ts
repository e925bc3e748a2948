import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../errors.ts";
import { compileFilter, compileSort } from "./compile-filter.ts";
import type { Columns } from "./filter.ts";
import { LENIENT_FILTERS, STRICT_FILTERS, parseFilters } from "./parse-filters.ts";
import { parseOrderBy, parseSelectCols } from "./parse-order.ts";

type Machine = { id: number; gpu_name: string | null; price: number | null; verified: boolean; since: number };

const columns: Columns<Machine> = {
  id: { type: "integer", get: (row) => row.id },
  gpu_name: { type: "text", get: (row) => row.gpu_name },
  price: { type: "number", get: (row) => row.price },
  verified: { type: "boolean", get: (row) => row.verified },
  since: { type: "time", get: (row) => row.since },
};
const strict = { ...STRICT_FILTERS, source: "select_filters" };
const lenient = { ...LENIENT_FILTERS, source: "", aliases: { dph: "price" } };

const machines: readonly Machine[] = [
  { id: 1, gpu_name: "RTX 4090", price: 0.4, verified: true, since: 1000.5 },
  { id: 2, gpu_name: "H100 SXM", price: 2.1, verified: true, since: 2000 },
  { id: 3, gpu_name: null, price: null, verified: false, since: 3000 },
];

function idsOf(filters: unknown, options: typeof strict | typeof lenient = strict): number[] {
  const parsed = parseFilters(filters, columns, options);
  return machines.filter(compileFilter(parsed, columns)).map((machine) => machine.id);
}

function refusal(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.kind, "invalid");
    return error;
  }
  return assert.fail("nothing was refused");
}

test("every operator selects the rows that its name says", () => {
  assert.deepEqual(idsOf({ id: { eq: 2 } }), [2]);
  assert.deepEqual(idsOf({ id: { neq: 2 } }), [1, 3]);
  assert.deepEqual(idsOf({ id: { lt: 2 } }), [1]);
  assert.deepEqual(idsOf({ id: { lte: 2 } }), [1, 2]);
  assert.deepEqual(idsOf({ id: { gt: 2 } }), [3]);
  assert.deepEqual(idsOf({ id: { gte: 2 } }), [2, 3]);
  assert.deepEqual(idsOf({ id: { in: [1, 3] } }), [1, 3]);
  assert.deepEqual(idsOf({ id: { notin: [1, 3] } }), [2]);
});

test("several operators on a field and several fields must all hold", () => {
  assert.deepEqual(idsOf({ id: { gte: 1, lt: 3 }, verified: { eq: true }, price: { gt: 1 } }), [2]);
});

test("text that holds a number or a boolean is cast to the column's type", () => {
  assert.deepEqual(idsOf({ price: { gte: "0.5" }, verified: { eq: "true" }, id: { in: ["2", 3] } }), [2]);
  assert.deepEqual(idsOf({ since: { lte: "1000.5" } }), [1]);
});

test("one value stands for a list of one in a search of offers, and is refused in all others", () => {
  assert.deepEqual(idsOf({ gpu_name: { in: "RTX 4090" } }, lenient), [1]);
  assert.deepEqual(idsOf({ id: { notin: 1 } }, lenient), [2, 3]);
  for (const [field, operator, value] of [
    ["gpu_name", "in", "RTX 4090"],
    ["id", "notin", 1],
    ["verified", "in", true],
    ["price", "in", null],
    ["id", "in", { 0: 1 }],
  ] as const) {
    const { extra, publicMessage } = refusal(() => parseFilters({ [field]: { [operator]: value } }, columns, strict));
    assert.equal(extra["field"], `select_filters.${field}.${operator}`);
    assert.match(publicMessage, /expected a list, each value/);
  }
});

test("an empty list matches nothing, its opposite everything", () => {
  assert.deepEqual(idsOf({ id: { in: [] } }), []);
  assert.deepEqual(idsOf({ id: { notin: [] } }), [1, 2, 3]);
});

test("a row without a value matches eq null, neq and notin, and no ordering", () => {
  assert.deepEqual(idsOf({ price: { eq: null } }), [3]);
  assert.deepEqual(idsOf({ price: { neq: null } }), [1, 2]);
  assert.deepEqual(idsOf({ price: { neq: 0.4 } }), [2, 3]);
  assert.deepEqual(idsOf({ price: { lt: 1000 } }), [1, 2]);
  assert.deepEqual(idsOf({ price: { in: [null, 2.1] } }), [2, 3]);
  assert.deepEqual(idsOf({ price: { notin: [2.1] } }), [1, 3]);
  assert.deepEqual(idsOf({ price: { notin: [2.1, null] } }), [1]);
});

test("absent filters, an absent field and an empty condition do not constrain", () => {
  for (const nothing of [undefined, null, "", "null", "{}", {}, { id: null }, { id: {} }]) {
    assert.deepEqual(idsOf(nothing), [1, 2, 3]);
  }
});

test("every mistake names the field, the operator and what was expected", () => {
  const cases: readonly (readonly [unknown, string, RegExp])[] = [
    ["{", "select_filters", /not valid JSON/],
    ["[]", "select_filters", /must be an object/],
    ["7", "select_filters", /must be an object/],
    [{ colour: { eq: 1 } }, "select_filters.colour", /not a searchable field/],
    [{ constructor: { eq: 1 } }, "select_filters.constructor", /not a searchable field/],
    ['{"__proto__":{"eq":1}}', "select_filters.__proto__", /not a searchable field/],
    [{ id: { like: 1 } }, "select_filters.id.like", /unknown operator; known are eq, neq/],
    [{ id: { toString: 1 } }, "select_filters.id.toString", /unknown operator/],
    [{ id: 5 }, "select_filters.id", /must be an object \{operator: value\}, got 5/],
    [{ id: [1] }, "select_filters.id", /got a list/],
    [{ id: { eq: "abc" } }, "select_filters.id.eq", /expected one value, an integer, got "abc"/],
    [{ id: { eq: 1.5 } }, "select_filters.id.eq", /an integer/],
    [{ id: { eq: true } }, "select_filters.id.eq", /an integer/],
    [{ id: { eq: [1] } }, "select_filters.id.eq", /got a list/],
    [{ id: { eq: { eq: 1 } } }, "select_filters.id.eq", /got an object/],
    [{ id: { in: [[1]] } }, "select_filters.id.in", /a list, each value an integer, got a list/],
    [{ id: { lt: null } }, "select_filters.id.lt", /got null/],
    [{ verified: { eq: "yes" } }, "select_filters.verified.eq", /true or false/],
    [{ verified: { eq: 1 } }, "select_filters.verified.eq", /true or false/],
    [{ gpu_name: { eq: 4090 } }, "select_filters.gpu_name.eq", /a text, got 4090/],
    [{ gpu_name: { eq: "a\0b" } }, "select_filters.gpu_name.eq", /a text/],
    [{ gpu_name: { in: ["\ud800"] } }, "select_filters.gpu_name.in", /a text/],
    [{ since: { gt: "01/02/2026" } }, "select_filters.since.gt", /seconds since 1970/],
    [{ price: { gt: "0x10" } }, "select_filters.price.gt", /a number/],
    ['{"price":{"gt":1e999}}', "select_filters.price.gt", /a number/],
    [{ id: { in: Array.from({ length: 1025 }, (_, index) => index) } }, "select_filters.id.in", /1024/],
  ];
  for (const [input, field, message] of cases) {
    const error = refusal(() => parseFilters(input, columns, strict));
    assert.equal(error.extra["field"], field);
    assert.match(error.publicMessage, message);
  }
});

test("more than 64 known fields are refused, lists together hold 1,024 values", () => {
  const many = Object.fromEntries(
    Array.from({ length: 65 }, (_, index) => [`c${index}`, { type: "integer" as const, get: () => 1 }]),
  );
  const input = Object.fromEntries(Object.keys(many).map((name) => [name, { eq: 1 }]));
  assert.match(refusal(() => parseFilters(input, many, strict)).publicMessage, /64 fields/);
  const half = Array.from({ length: 600 }, (_, index) => index);
  assert.match(refusal(() => parseFilters({ id: { in: half, notin: half } }, columns, strict)).publicMessage, /1024/);
});

test("offers ignore fields they do not know and the word any, and cast more freely", () => {
  assert.deepEqual(idsOf({ compute_capability: { gte: "750" }, limit: 5, order: [["x"]] }, lenient), [1, 2, 3]);
  assert.deepEqual(idsOf({ verified: { eq: "any" }, id: { lt: 2.5 } }, lenient), [1, 2]);
  assert.deepEqual(idsOf({ verified: { eq: 0 } }, lenient), [3]);
  assert.deepEqual(idsOf({ dph: { lt: 1 } }, lenient), [1]);
  assert.equal(refusal(() => parseFilters({ id: { eq: "x" } }, columns, lenient)).extra["field"], "id.eq");
});

test("a message never repeats control characters or more than a line of what was sent", () => {
  const error = refusal(() => parseFilters({ [`\u001b[31m${"x".repeat(500)}`]: { eq: 1 } }, columns, strict));
  assert.ok(error.publicMessage.length < 200 && !error.publicMessage.includes("\u001b"));
});

test("an order is read from objects, pairs and names", () => {
  const options = { source: "order_by", aliases: { dph: "price" } };
  assert.deepEqual(parseOrderBy('[{"col":"id","dir":"desc"},{"col":"price"}]', columns, options), [
    { column: "id", direction: "desc" },
    { column: "price", direction: "asc" },
  ]);
  assert.deepEqual(parseOrderBy([["dph", "desc"], ["id"], "since"], columns, options), [
    { column: "price", direction: "desc" },
    { column: "id", direction: "asc" },
    { column: "since", direction: "asc" },
  ]);
  assert.deepEqual(parseOrderBy(undefined, columns, options), []);
});

test("an unknown column or direction of an order is refused by name", () => {
  const options = { source: "order_by" };
  for (const input of [
    ["colour"],
    [["__proto__", "asc"]],
    [{ col: "id", dir: "down" }],
    [{}],
    [7],
    { col: "id" },
    "id",
    [["id", "asc", "x"]],
    [null],
    Array.from({ length: 17 }, () => "id"),
  ]) {
    assert.match(refusal(() => parseOrderBy(input, columns, options)).publicMessage, /^order_by/);
  }
});

test("rows without a value come last in both directions", () => {
  const sorted = (direction: "asc" | "desc") =>
    machines.toSorted(compileSort([{ column: "price", direction }], columns)).map((machine) => machine.id);
  assert.deepEqual(sorted("asc"), [1, 2, 3]);
  assert.deepEqual(sorted("desc"), [2, 1, 3]);
});

test("columns to return are a list of known names or a star", () => {
  assert.equal(parseSelectCols('["*"]', ["id"], "select_cols"), undefined);
  assert.equal(parseSelectCols(undefined, ["id"], "select_cols"), undefined);
  assert.deepEqual(parseSelectCols('["id"]', ["id", "name"], "select_cols"), new Set(["id"]));
  for (const input of ['["password"]', '"id"', "[1]", "{"]) {
    assert.match(refusal(() => parseSelectCols(input, ["id"], "select_cols")).publicMessage, /^select_cols/);
  }
});
