// The help of each page, without a browser: addresses are read from the text of the router.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { HELP_OF } from "../../console/src/help.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const SOURCES = path.join(ROOT, "console/src");
const ROUTE =
  /^(?:export )?const (\w+) = createRoute\(\{\n {2}getParentRoute: \(\) => (\w+),\n {2}(path|id): "([^"]*)"/gm;
/** Pages that are help themselves, and the address that leads on to another one. */
const WITHOUT = /^\/$|^\/help(\/|$)/;

function routes() {
  const text = globSync("*.{ts,tsx}", { cwd: SOURCES })
    .map((file) => readFileSync(path.join(SOURCES, file), "utf8"))
    .join("\n");
  assert.equal(text.match(/createRoute\(/g)?.length, [...text.matchAll(ROUTE)].length, "a route is written otherwise");
  return new Map(
    [...text.matchAll(ROUTE)].map(([, name = "", parent = "", kind, own = ""]) => [name, { parent, kind, own }]),
  );
}

/** The whole addresses of pages that are shown within the frame, where the link to the help stands. */
function addresses(): readonly string[] {
  const known = routes();
  const addressOf = (name: string): string | undefined => {
    if (name === "frame") return "";
    const route = known.get(name);
    if (route === undefined || route.kind === "id") return undefined;
    const above = addressOf(route.parent);
    return above === undefined ? undefined : `${above}/${route.own}`.replace(/\/+$/, "") || "/";
  };
  return [...known].flatMap(([name, { kind }]) => (kind === "id" ? [] : (addressOf(name) ?? [])));
}

/** The name under which a heading is reached, as the help pages make it. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, "")
    .trim()
    .replaceAll(" ", "-");
}

test("each page of the console links to its help, and the help is there", () => {
  const pages = addresses();
  assert.ok(pages.length > 50);
  const helpless = pages.filter((page) => !WITHOUT.test(page) && HELP_OF[page] === undefined);
  assert.deepEqual(helpless, []);
  assert.deepEqual(
    Object.keys(HELP_OF).filter((page) => !pages.includes(page)),
    [],
  );
  for (const target of new Set(Object.values(HELP_OF))) {
    const [page = "", heading] = target.split("#");
    const file = path.join(ROOT, "docs", `${page}.md`);
    assert.ok(existsSync(file), target);
    const headings = [...readFileSync(file, "utf8").matchAll(/^#{2,3} (.*)$/gm)].map(([, text = ""]) => slug(text));
    assert.ok(heading === undefined || headings.includes(heading), target);
  }
});
