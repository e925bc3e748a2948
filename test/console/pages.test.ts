import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { SHOWN_PAGES } from "../support/console/market/pages.ts";
import { routedPages } from "../support/console/routed-pages.ts";

const ROOT = path.join(import.meta.dirname, "../..");
/** `| [/market](pictures/market.png) | … | [rent](../test/console/rent.test.ts) |` */
const ROW =
  /^\| \[`(\/[^`]*)`\]\(pictures\/([\w-]+)\.png\) +\| [^|]+ \| \[[\w-]+\]\(\.\.\/(test\/console\/[\w-]+\.test\.ts)\)/gm;

test("each page of the router has a picture, and a line in the documentation with its test", () => {
  const shown = new Set(SHOWN_PAGES.map(({ route }) => route));
  assert.deepEqual(
    routedPages().filter((page) => !shown.has(page)),
    [],
    "pages without a picture",
  );
  for (const { name } of SHOWN_PAGES) {
    assert.ok(existsSync(path.join(ROOT, `docs/pictures/${name}.png`)), `./berth pictures has to make ${name}.png`);
  }
  const rows = [...readFileSync(path.join(ROOT, "docs/console.md"), "utf8").matchAll(ROW)];
  for (const [, , picture = "", file = ""] of rows) {
    assert.ok(existsSync(path.join(ROOT, file)), `there is no test ${file}`);
    assert.ok(
      SHOWN_PAGES.some(({ name }) => name === picture),
      `there is no picture ${picture}`,
    );
  }
  assert.deepEqual(new Set(rows.map(([, page]) => page)), new Set(routedPages()), "lines of docs/console.md");
});
