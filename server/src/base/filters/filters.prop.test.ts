import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../errors.ts";
import { compareScalars, compileFilter } from "./compile-filter.ts";
import { OPERATORS, type Columns, type FilterScalar } from "./filter.ts";
import { LENIENT_FILTERS, STRICT_FILTERS, parseFilters } from "./parse-filters.ts";
import { parseOrderBy, parseSelectCols } from "./parse-order.ts";
import { parseQueryLanguage } from "./query-language.ts";
import { textOfAny } from "../../../../test/support/any-text.ts";

type Row = { readonly [name in "i" | "n" | "t" | "b"]: FilterScalar };

const columns: Columns<Row> = {
  i: { type: "integer", get: (row) => row.i },
  n: { type: "number", get: (row) => row.n },
  t: { type: "text", get: (row) => row.t },
  b: { type: "boolean", get: (row) => row.b },
};

const values = {
  i: fc.integer({ min: -2, max: 2 }),
  n: fc.constantFrom(-1.5, 0, 0.25, 1, 1e9),
  t: fc.constantFrom("", "a", "B", "é", "\u{1F600}", "\uFFFD", "a\uFFFD"),
  b: fc.boolean(),
};
const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 4 });
const rows = fc.record({
  i: nullable(values.i),
  n: nullable(values.n),
  t: nullable(values.t),
  b: nullable(values.b),
});

const conditions = (value: fc.Arbitrary<FilterScalar>) =>
  fc.record(
    {
      eq: nullable(value),
      neq: nullable(value),
      lt: value,
      lte: value,
      gt: value,
      gte: value,
      in: fc.array(nullable(value), { maxLength: 4 }),
      notin: fc.array(nullable(value), { maxLength: 4 }),
    },
    { requiredKeys: [] },
  );
const objects = fc.record(
  { i: conditions(values.i), n: conditions(values.n), t: conditions(values.t), b: conditions(values.b) },
  { requiredKeys: [] },
);

/** The language said again, as plainly as possible. */
function interpret(object: Readonly<Record<string, Readonly<Record<string, unknown>>>>, row: Row): boolean {
  return Object.entries(object).every(([name, operators]) => {
    const actual = columns[name]?.get(row) ?? null;
    return Object.entries(operators).every(([operator, expected]) => holds(operator, actual, expected));
  });
}

function holds(operator: string, actual: FilterScalar, expected: unknown): boolean {
  const listed = Array.isArray(expected) && expected.some((item) => item === actual);
  if (operator === "in") return listed;
  if (operator === "notin") return !listed;
  if (operator === "eq") return actual === expected;
  if (operator === "neq") return actual !== expected;
  if (actual === null) return false;
  const bytes = (value: unknown) => (typeof value === "string" ? Buffer.from(value).toString("hex") : Number(value));
  const [left, right] = [bytes(actual), bytes(expected)];
  if (operator === "lt") return left < right;
  if (operator === "lte") return left <= right;
  return operator === "gt" ? left > right : left >= right;
}

const strict = { ...STRICT_FILTERS, source: "f" };

test("a compiled filter says the same as the definition read aloud, on every row", () => {
  fc.assert(
    fc.property(objects, rows, (object, row) => {
      const matches = compileFilter(parseFilters(JSON.stringify(object), columns, strict), columns);
      assert.equal(matches(row), interpret(object, row));
    }),
    { numRuns: 2000 },
  );
});

test("texts are ordered as their UTF-8 bytes are", () => {
  const text = textOfAny({ isWellFormed: true });
  fc.assert(
    fc.property(text, text, (left, right) => {
      const expected = Buffer.compare(Buffer.from(left), Buffer.from(right));
      assert.equal(Math.sign(compareScalars(left, right)), expected);
    }),
  );
});

function throwsOnlyInvalid(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
    assert.ok(error.publicMessage.length < 400);
  }
}

const nearlyFilters = fc.dictionary(
  fc.oneof(fc.constantFrom("i", "n", "t", "b", "__proto__", "constructor"), fc.string()),
  fc.oneof(fc.dictionary(fc.oneof(fc.constantFrom(...OPERATORS), fc.string()), fc.jsonValue()), fc.jsonValue()),
);

test("the parsers answer or refuse any input, and throw nothing but refusals", () => {
  const inputs = fc.oneof(
    fc.string(),
    fc.json(),
    fc.jsonValue(),
    nearlyFilters,
    nearlyFilters.map((o) => JSON.stringify(o)),
  );
  fc.assert(
    fc.property(inputs, (input) => {
      throwsOnlyInvalid(() => parseFilters(input, columns, strict));
      throwsOnlyInvalid(() => parseFilters(input, columns, { ...LENIENT_FILTERS, source: "" }));
      throwsOnlyInvalid(() => parseOrderBy(input, columns, { source: "o" }));
      throwsOnlyInvalid(() => parseSelectCols(input, ["i"], "c"));
    }),
    { numRuns: 2000 },
  );
});

test("any text given as a query is read or refused, and what is read has the object form", () => {
  const pieces = fc.constantFrom(
    "i",
    "n",
    " ",
    "=",
    "==",
    "!=",
    ">",
    " in ",
    " not in ",
    "[",
    "]",
    ",",
    '"',
    "_",
    "1",
    "any",
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      throwsOnlyInvalid(() => {
        const { filters } = parseQueryLanguage(text, { source: "q", multipliers: { n: 1000 }, versionFields: ["i"] });
        for (const operators of Object.values(filters)) {
          assert.ok(Object.keys(operators).every((operator) => OPERATORS.includes(operator)));
        }
      });
    }),
    { numRuns: 3000 },
  );
});
