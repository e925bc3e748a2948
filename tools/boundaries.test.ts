import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { checkBoundaries, checkBoundariesOf, findUnread } from "./boundaries.ts";

const supply = "server/src/domains/supply";
let root = "";

before(() => {
  root = mkdtempSync(path.join(tmpdir(), "berth-boundaries-"));
  symlinkSync(path.resolve(import.meta.dirname, "../node_modules"), path.join(root, "node_modules"));
});
after(() => rmSync(root, { recursive: true, force: true }));

/** Writes one tree, checks it, or only some of its files, and removes it again. Keys are paths, values contents. */
async function check(files: Readonly<Record<string, string>>, only?: readonly string[]): Promise<readonly string[]> {
  writeFileSync(path.join(root, "package.json"), JSON.stringify({ dependencies: { kysely: "*", fastify: "*" } }));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), content);
  }
  try {
    return await (only === undefined ? checkBoundaries(root) : checkBoundariesOf(root, only));
  } finally {
    for (const room of new Set(Object.keys(files).map((file) => file.split("/")[0] ?? ""))) {
      rmSync(path.join(root, room), { recursive: true });
    }
  }
}

/** Files that most imports below refer to. */
const ground = {
  "protocol/index.ts": "export const a = 1;\n",
  "server/src/base/clock.ts": "export const a = 1;\n",
  "server/src/db/transaction.ts": "export const a = 1;\n",
  "server/src/http/server.ts": "export const a = 1;\n",
  "server/src/assembly/app.ts": "export const a = 1;\n",
  "agent/src/plan.ts": "export const a = 1;\n",
  "agent/src/docker/engine.ts": "export const a = 1;\n",
  "sdk/src/client.ts": "export const a = 1;\n",
  "cli/src/main.ts": "export const a = 1;\n",
  "test/support/database/postgres.ts": "export const a = 1;\n",
  [`${supply}/hosts/index.ts`]: "export const a = 1;\n",
  [`${supply}/hosts/service.ts`]: "export const a = 1;\n",
  [`${supply}/hosts/for-market.ts`]: "export const a = 1;\n",
  [`${supply}/market/index.ts`]: "export const a = 1;\n",
  [`${supply}/market/store.ts`]: "export const a = 1;\n",
  [`${supply}/market/rules/allocation.ts`]: "export const a = 1;\n",
};

const planted: readonly (readonly [rule: string, file: string, specifier: string])[] = [
  ["protocol-knows-nobody", "protocol/bad.ts", "../server/src/base/clock.ts"],
  ["protocol-is-data", "protocol/bad.ts", "node:fs"],
  ["tunnel-knows-nobody", "tunnel/bad.ts", "../protocol/index.ts"],
  ["server-knows-the-wire-only", "server/src/bad.ts", "../../agent/src/plan.ts"],
  ["agent-knows-the-wire-only", "agent/src/bad.ts", "../../server/src/base/clock.ts"],
  ["sdk-stands-alone", "sdk/src/bad.ts", "../../protocol/index.ts"],
  ["worker-stands-alone", "worker/src/bad.ts", "../../server/src/base/clock.ts"],
  ["clients-use-the-sdk", "cli/src/bad.ts", "../../server/src/base/clock.ts"],
  ["clients-are-apart", "console/src/bad.ts", "../../cli/src/main.ts"],
  ["nobody-imports-tests", "server/src/bad.ts", "../../test/support/database/postgres.ts"],
  ["one-docker-importer", "agent/src/bad.ts", "./docker/engine.ts"],
  ["base-is-the-ground", "server/src/base/bad.ts", "../db/transaction.ts"],
  ["db-knows-base-only", "server/src/db/bad.ts", "../http/server.ts"],
  ["http-knows-no-domain", "server/src/http/bad.ts", "../domains/supply/hosts/index.ts"],
  ["proxy-knows-no-domain", "server/src/proxy/bad.ts", "../domains/supply/hosts/index.ts"],
  ["assembly-is-on-top", `${supply}/hosts/bad-routes.ts`, "../../../assembly/app.ts"],
  ["sql-lives-in-stores", `${supply}/hosts/service.ts`, "kysely"],
  ["http-stays-at-the-edge", `${supply}/hosts/service.ts`, "../../../http/server.ts"],
  ["http-stays-at-the-edge", `${supply}/hosts/service.ts`, "fastify"],
  ["domains-have-one-door", `${supply}/market/service.ts`, "../hosts/service.ts"],
  ["doors-have-one-consumer", "server/src/assembly/app.ts", "../domains/supply/hosts/for-market.ts"],
  ["assembly-uses-doors", "server/src/assembly/app.ts", "../domains/supply/hosts/service.ts"],
  ["stores-are-the-bottom", `${supply}/hosts/store.ts`, "./service.ts"],
  ["services-know-no-routes", `${supply}/hosts/views.ts`, "./routes.ts"],
  ["rules-are-pure", `${supply}/market/rules/allocation.ts`, "../store.ts"],
  ["rules-are-pure", `${supply}/market/rules/allocation.ts`, "../../../../db/transaction.ts"],
  ["rules-are-pure", `${supply}/market/rules/allocation.ts`, "node:fs"],
  ["supply-hosts-knows", `${supply}/hosts/service.ts`, "../market/index.ts"],
  ["domains-are-listed", `server/src/domains/weather/service.ts`, "../../base/clock.ts"],
  ["resolvable", "server/src/bad.ts", "./nowhere.ts"],
  ["dependencies-are-declared", "server/src/bad.ts", "typebox"],
];

for (const [rule, file, specifier] of planted) {
  test(`${rule} refuses ${file} importing ${specifier}`, async () => {
    const routes = { [`${supply}/hosts/routes.ts`]: "export const a = 1;\n" };
    const complaints = await check({ ...ground, ...routes, [file]: `import "${specifier}";\n` });
    assert.ok(
      complaints.some((complaint) => complaint.startsWith(file) && complaint.endsWith(`(${rule})`)),
      complaints.join("\n"),
    );
  });
}

test("allowed imports give no complaint", async () => {
  const complaints = await check({
    ...ground,
    "server/src/assembly/app.ts": 'import "../domains/supply/hosts/index.ts";\n',
    [`${supply}/hosts/routes.ts`]: 'import "../../../http/server.ts";\nimport "./service.ts";\n',
    [`${supply}/hosts/service.ts`]: 'import "./store.ts";\nimport type { a } from "../../../http/server.ts";\n',
    [`${supply}/hosts/store.ts`]: 'import "kysely";\nimport "../../../db/transaction.ts";\n',
    [`${supply}/market/service.ts`]: 'import "../hosts/for-market.ts";\nimport "./rules/allocation.ts";\n',
    [`${supply}/market/rules/allocation.ts`]:
      'import "../../../../base/clock.ts";\nimport type { a } from "../store.ts";\n',
    "server/src/base/clock.test.ts":
      'import "../domains/supply/hosts/service.ts";\nimport "../../../agent/src/plan.ts";\n',
    "agent/src/plan.ts": 'import "../../protocol/index.ts";\n',
    "cli/src/main.ts": 'import "../../sdk/src/client.ts";\n',
  });
  assert.deepEqual(complaints, []);
});

test("modules that import each other are refused, for types alone as well", async () => {
  const cycle = (a: string, b: string) => ({ "agent/src/a.ts": a, "agent/src/b.ts": b });
  const typesOnly = await check(cycle('import type { b } from "./b.ts";\n', 'import "./a.ts";\nexport const b = 1;\n'));
  assert.ok(typesOnly.some((complaint) => complaint.endsWith("(no-cycles)")));
  const complaints = await check(cycle('import "./b.ts";\n', 'import "./a.ts";\n'));
  assert.ok(complaints.some((complaint) => complaint.endsWith("(no-cycles)")));
});

test("a file that was not read, or in which no import was found, is a complaint; so is a tree without files", async () => {
  const modules = [{ source: "boundaries.test.ts", dependencies: [] }];
  const complaints = findUnread(import.meta.dirname, ["boundaries.ts", "boundaries.test.ts"], modules);
  assert.deepEqual(complaints, ["boundaries.ts: was not read", "boundaries.test.ts: its imports were not found"]);
  assert.deepEqual(await check({}), ["no files: there is nothing to check"]);
});

test("a file that cannot be parsed stops the check", async () => {
  await assert.rejects(check({ "agent/src/a.ts": "export const = = 1;\n" }));
});

test("a check of some files covers their imports, also of each other, and nothing else", async () => {
  const bad = 'import { a } from "../../../assembly/app.ts";\nexport const b = a;\n';
  const files = {
    ...ground,
    [`${supply}/hosts/service.ts`]: bad,
    [`${supply}/market/service.ts`]: bad,
    "server/src/db/transaction.ts": 'import { a } from "../base/clock.ts";\nexport const b = a;\n',
    "server/src/base/clock.ts":
      'import type { b } from "../db/transaction.ts";\nexport const a = 1;\nexport type B = b;\n',
  };
  const of = (...only: readonly string[]) => check(files, only);
  assert.deepEqual(await of("docs/a.md", "server/src/db/transaction.ts"), []);
  const [reaching, ...more] = await of(`${supply}/hosts/service.ts`, "server/src/assembly/app.ts");
  assert.match(reaching ?? "", /hosts\/service\.ts -> server\/src\/assembly\/app\.ts: .* \(assembly-is-on-top\)$/);
  assert.deepEqual(more, []);
  const both = await of("server/src/db/transaction.ts", "server/src/base/clock.ts");
  assert.deepEqual(both.map((complaint) => /\(([a-z-]+)\)$/.exec(complaint)?.[1] ?? "").toSorted(), [
    "base-is-the-ground",
    "no-cycles",
  ]);
  assert.deepEqual(await of("docs/a.md"), []);
});
