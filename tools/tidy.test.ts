import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { readTree } from "./source-files.ts";
import { codesIn, rules, tidy } from "./tidy.ts";

const root = path.resolve(import.meta.dirname, "..");

test("the whole tree keeps the house rules", () => {
  const files = readTree(root);
  assert.ok(files.length > 50, "the tree was not read");
  assert.deepEqual(tidy(files, root), []);
});

/** A mistake that a rule must find, or something close to one that it must leave alone. */
type Example = { readonly path: string; readonly text: string };

const found: Readonly<Record<string, readonly Example[]>> = {
  sqlOutsideStores: [
    { path: "server/src/domains/supply/hosts/service.ts", text: "await tx.db.selectFrom('machines').execute()" },
    { path: "server/src/domains/supply/hosts/service.ts", text: "const rows = await sql`select 1`.execute(tx.db);" },
    { path: "server/src/domains/supply/hosts/service.ts", text: "const rows = await sql<{ a: number }>`select 1`;" },
    { path: "server/src/assembly/app.ts", text: 'pool.query("insert into users values (1)")' },
    { path: "server/src/base/loop-driver.ts", text: "pool.query(`update users set a = 1`)" },
  ],
  forbiddenWords: [
    { path: "server/src/assembly/app.ts", text: "// TODO: later" },
    { path: "docs/a.md", text: "# A\n\nFIXME" },
    { path: "server/src/assembly/app.test.ts", text: 'test.skip("it holds what it promises", () => {})' },
    { path: "server/src/assembly/app.test.ts", text: 'test("it holds what it promises", { only: true }, () => {})' },
    { path: "docs/a.md", text: `# A\n\nsee ${root}/docs` },
    { path: "docs/a.md", text: "# A\n\nsee /home/someone/docs" },
    { path: "server/src/assembly/app.ts", text: "// from https://registry.example.org/pg" },
  ],
  clocks: [
    { path: "server/src/domains/supply/hosts/service.ts", text: "const now = new Date();" },
    { path: "agent/src/instances/host.ts", text: "const now = new Date;" },
  ],
  privateMembers: [
    { path: "server/src/domains/supply/hosts/service.ts", text: "class Host {\n  private readonly clock: Clock;\n}" },
    { path: "agent/src/instances/host.ts", text: "class Host {\n  private async stop(): Promise<void> {}\n}" },
  ],
  migrations: [
    { path: "server/migrations/1_users.sql", text: "" },
    { path: "server/migrations/0001-users.sql", text: "" },
    { path: "server/migrations/0001_Users.sql", text: "" },
    { path: "server/migrations/readme.sql", text: "" },
  ],
  documentTitles: [{ path: "docs/a.md", text: "Nothing" }],
  links: [
    { path: "docs/a.md", text: "# A\n\nSee [b](nowhere.md)." },
    { path: "docs/a.md", text: "# A\n\nSee [b](../LICENSE#nothing)." },
    { path: "docs/a.md", text: "# A\n\n```\n# B\n```\n\nSee [b](#b) and [a](#a)." },
  ],
  plainWords: [
    { path: "server/src/base/a.ts", text: "/** What is found. */" },
    { path: "server/src/base/a.ts", text: "/**\n * What is found in\n * a search.\n */" },
    { path: "server/src/base/a.ts", text: "  // Of those that wait, the oldest." },
    { path: "server/src/base/a.ts", text: "/** So many are kept. */" },
    { path: "server/src/base/a.test.ts", text: 'test("what is asked twice is done once", () => {});' },
    { path: "docs/a.md", text: "# A\n\nWhoever rents pays." },
    { path: "docs/a.md", text: "# A\n\nThe renter sees his bill." },
  ],
  fileNames: [
    { path: "server/src/domains/supply/hosts/agentGateway.ts", text: "" },
    { path: "server/src/domains/Hosts/service.ts", text: "" },
    { path: "cli/src/show_me.ts", text: "" },
  ],
  testNames: [
    { path: "server/src/assembly/app.test.ts", text: 'test("", () => {});' },
    { path: "server/src/assembly/app.test.ts", text: '  test("parseDollars", () => {});' },
  ],
  sleepingTests: [
    { path: "server/src/assembly/app.test.ts", text: "await new Promise((resolve) => setTimeout(resolve, 100));" },
    { path: "test/e2e/tour.test.ts", text: "await systemClock.sleep(100);" },
    { path: "test/support/server.ts", text: "await delay(100);" },
  ],
  errorCodes: [
    { path: "docs/errors.md", text: "# Errors\n\n| `no_such_ask` | 404 | |\n" },
    { path: "server/src/assembly/app.ts", text: 'throw notFound("no_such_ask", "There is no such offer.");' },
  ],
};

const leftAlone: readonly Example[] = [
  { path: "server/src/domains/supply/hosts/store.ts", text: "await tx.db.selectFrom('machines').execute()" },
  { path: "server/src/db/migrate.ts", text: "await sql`select 1`.execute(db)" },
  { path: "server/src/domains/supply/hosts/service.ts", text: '// Selects from "update of" what may be shown.' },
  { path: "server/src/base/clock.ts", text: "now: () => new Date()," },
  { path: "server/src/domains/supply/hosts/join/views.ts", text: "return new Date(seconds * 1000);" },
  { path: "server/src/domains/supply/hosts/views.test.ts", text: 'test("a date is shown in UTC", () => new Date());' },
  { path: "agent/src/instances/launch.ts", text: 'const home = "/root/.ssh";' },
  {
    path: "server/src/assembly/app.test.ts",
    text: "for (;;) {\n  if (await isReady()) break;\n  await clock.sleep(5);\n}",
  },
  { path: "docs/errors.md", text: "# Errors\n" },
  {
    path: "server/src/base/b.ts",
    text: "/**\n * Offers that match.\n */\n// Offers come in rows;\n// of these, the first.",
  },
  { path: "server/migrations/0001_old.sql", text: "-- whatever it was" },
  {
    path: "docs/b.md",
    text: "# B: the `code`\n\n[a](../LICENSE), [b](#b-the-code), [c](https://example.org#c)\n\n```\n[d](#d)\n```",
  },
];

/** Rules about the tree as a whole have tests of their own, below. */
const WHOLE_TREE = new Set(["tablesAtHome"]);

for (const [name, rule] of Object.entries(rules).filter(([name]) => !WHOLE_TREE.has(name))) {
  const examples = found[name] ?? [];
  test(`the rule ${name} finds each of its ${examples.length} planted mistakes and nothing else`, () => {
    assert.ok(examples.length > 0, "a rule without an example may find nothing at all");
    for (const example of examples) {
      const complaints = rule([example], root);
      assert.equal(complaints.length, 1, `${example.path}: ${example.text}\n${complaints.join("\n")}`);
    }
    assert.deepEqual(rule(leftAlone, root), []);
  });
}

test("two migrations of one number are refused", () => {
  const files = ["0001_users.sql", "0001_keys.sql"].map((name) => ({ path: `server/migrations/${name}`, text: "" }));
  assert.deepEqual(rules["migrations"]?.(files, root), [
    "server/migrations/0001_keys.sql: 0001_users.sql has the same number",
  ]);
});

test("error codes are listed when used, used or retired when listed, in order, and never used once retired", () => {
  const complain = (document: string, code: string) =>
    rules["errorCodes"]?.(
      [
        { path: "docs/errors.md", text: `# Errors\n\n${document}` },
        { path: "server/src/assembly/app.ts", text: code },
      ],
      root,
    );
  const [a, b, retired] = ["| `a_b` | 400 | |\n", "| `b` | 400 | |\n", "| `c` | 400 | retired |\n"];
  assert.deepEqual(complain(`${a}${b}${retired}`, 'conflict("a_b", "x"); gone("b", "y");'), []);
  assert.match(complain(`${b}${a}`, 'conflict("a_b", "x"); gone("b", "y");')?.[0] ?? "", /alphabetical/);
  assert.match(complain(retired, 'conflict("c", "x")')?.[0] ?? "", /retired, but used/);
  assert.match(complain(a, "")?.[0] ?? "", /no code uses a_b/);
  assert.match(complain("", 'conflict("a_b", "x")')?.[0] ?? "", /a_b is not in/);
});

test("a code is read from the argument in which its constructor takes it", () => {
  const text = [
    'notFound("first", "There is (no) such, thing");',
    'throw invalid("field", `${name}, (not "this")`, "second", { extra: {} });',
    'invalid("field", "no code here");',
    'forbidden(`Key ${[1, 2].join(", ")}`, "third");',
    'new AppError("too_large", "fourth", "x");',
    'export function invalid(field: string, message: string, code = "fifth") {}',
  ].join("\n");
  assert.deepEqual(codesIn(text).toSorted(), ["fifth", "first", "fourth", "second", "third"]);
});

test("a store touches the tables of its own domain, but for those of a list that only shrinks", () => {
  const homes = { "supply/hosts": ["machines"], "supply/market": ["offers"] };
  const store = "server/src/domains/supply/market/store.ts";
  const complain = (
    text: string,
    exceptions: object = {},
    schema = "create table machines (\ncreate table offers (\n",
  ) =>
    rules["tablesAtHome"]?.(
      [
        { path: "tools/tables-at-home.json", text: JSON.stringify({ homes, exceptions }) },
        { path: "server/schema.sql", text: schema },
        { path: store, text },
      ],
      root,
    );
  const refused = `${store}: the table machines belongs to supply/hosts; ask its index.ts instead`;
  assert.deepEqual(complain('tx.db.selectFrom("offers").select("machines")'), []);
  for (const text of [
    'tx.db.selectFrom("machines as m")',
    'db.selectFrom(["machines", "offers"])',
    'db.selectFrom("offers").innerJoin("machines", "a", "b")',
    "sql`update only machines set a = 1`",
    "sql`select 1 from offers o\n  left join machines using (id)`",
  ]) {
    assert.deepEqual(complain(text), [refused], text);
  }
  assert.deepEqual(complain("// from machines"), []);
  assert.deepEqual(complain('db.updateTable("machines")', { [store]: ["machines"] }), []);
  assert.match(complain("", { [store]: ["machines"] })?.[0] ?? "", /no longer touches machines/);
  assert.match(complain("", { "a/store.ts": ["machines"] })?.[0] ?? "", /there is no a\/store.ts/);
  assert.match(complain("", {}, "create table clouds (\n")?.[0] ?? "", /in whose domain clouds lives/);
});
