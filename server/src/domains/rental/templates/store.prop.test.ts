import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { aCaller, inTransaction } from "../../../../../test/support/fixtures.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { compileFilter, compileSort } from "../../../base/filters/compile-filter.ts";
import { STRICT_FILTERS, parseFilters } from "../../../base/filters/parse-filters.ts";
import { TEMPLATE_COLUMNS, isTemplateColumn } from "./columns.ts";
import { computeHashId } from "./rules/content-hash.ts";
import { readNewContent } from "./rules/content.ts";
import { createEncryption } from "../../../base/encryption.ts";
import { insertTemplate, searchTemplates } from "./store.ts";

const encryption = createEncryption(randomBytes(32), randomBytes);

const TEXTS = ["", "a", "B", "ab", "Å", "\u{1F600}", "\uFFFD", "x y", "%", "'"];
const contents = fc.record({
  name: fc.constantFrom(...TEXTS.filter((text) => text !== "")),
  image: fc.constantFrom("a/b", "a/c:v1", "z"),
  tag: fc.constantFrom("latest", "v1", "V1"),
  docker_login_repo: fc.constantFrom(...TEXTS),
  ssh_direct: fc.boolean(),
  jup_direct: fc.boolean(),
  use_ssh: fc.boolean(),
  recommended_disk_space: fc.constantFrom(0, 8, 8.5, 1e6, 0.1),
  private: fc.boolean(),
});

test("the database and the compiled filter choose and order the same templates", async (t) => {
  const { database } = await testDatabase(t);
  const { id: viewerId } = await aCaller(database);
  const bodies = fc.sample(contents, 60);
  await inTransaction(database, async (tx) => {
    for (const [index, body] of bodies.entries()) {
      const content = readNewContent({ ...body, desc: String(index) });
      const now = new Date(1.7e12 + (index % 7) * 1234.5);
      const version = { content, encryptedPassword: "", hashId: computeHashId(content, "") };
      await insertTemplate({ ...tx, now }, viewerId, version, encryption);
    }
  });
  await database.pool.query(
    `update templates set count_created = id % 5, is_recommended = id % 3 = 0,
       recent_create_at = case when id % 4 = 0 then null else created_at + (id % 6) * interval '0.25 seconds' end`,
  );
  const all = { viewerId, filters: [], order: [], limit: 1000, offset: 0 };
  const { templates } = await searchTemplates(database.kysely, all, encryption);
  assert.equal(templates.length, bodies.length);

  // Values that stand in some row find something; ids beyond PostgreSQL's integer are edge cases.
  const conditions = fc.constantFrom(...Object.keys(TEMPLATE_COLUMNS)).chain((name) => {
    assert.ok(isTemplateColumn(name));
    const { get, type } = TEMPLATE_COLUMNS[name];
    const present = templates.map((template) => get(template)).filter((value) => value !== null);
    const strange = type === "integer" ? [3_000_000_000, -9_007_199_254_740_991] : type === "text" ? TEXTS : [];
    const value = fc.constantFrom(...present, ...strange);
    const operators = fc.record(
      {
        eq: fc.option(value),
        neq: fc.option(value),
        lt: value,
        lte: value,
        gt: value,
        gte: value,
        in: fc.array(fc.option(value), { maxLength: 5 }),
        notin: fc.array(fc.option(value), { maxLength: 5 }),
      },
      { requiredKeys: [] },
    );
    const few = operators.chain((object) => {
      const entries = Object.entries(object);
      return fc.subarray(entries, { maxLength: Math.min(2, entries.length) });
    });
    return few.map((entries) => [name, Object.fromEntries(entries)] as const);
  });
  const orders = fc.array(
    fc.record({
      column: fc.constantFrom(...Object.keys(TEMPLATE_COLUMNS)),
      direction: fc.constantFrom("asc" as const, "desc" as const),
    }),
    { maxLength: 3 },
  );
  const filters = fc.array(conditions, { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
  await fc.assert(
    fc.asyncProperty(filters, orders, async (object, order) => {
      const parsed = parseFilters(object, TEMPLATE_COLUMNS, { ...STRICT_FILTERS, source: "f" });
      const expected = templates
        .filter(compileFilter(parsed, TEMPLATE_COLUMNS))
        .toSorted(compileSort([...order, { column: "id", direction: "asc" }], TEMPLATE_COLUMNS));
      const found = await searchTemplates(database.kysely, { ...all, filters: parsed, order }, encryption);
      assert.deepEqual(
        found.templates.map((template) => template.id),
        expected.map((template) => template.id),
      );
      assert.equal(found.found, expected.length);
    }),
    { numRuns: 400 },
  );
});
