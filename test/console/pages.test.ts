import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { aPage, signedInPage } from "../support/console/console-world.ts";
import { goTo, SHOWN_PAGES, type ShownPage } from "../support/console/market/pages.ts";
import { marketWorld } from "../support/console/market/seed.ts";
import { faultsOf } from "../support/console/survey.ts";
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

test("each page is accessible in both colour schemes, shows the focus, and fits a phone", async (t) => {
  const world = await marketWorld(t, { days: 2, stepMs: 24 * 3_600_000, minutes: 2 });
  const faults = new Map<string, readonly string[]>();
  const look = async (page: Page, by: ShownPage["by"]) => {
    for (const shown of SHOWN_PAGES.filter((one) => one.by === by)) {
      await goTo(page, shown, world.market);
      const found = await faultsOf(page);
      if (found.length > 0) faults.set(shown.name, found);
    }
  };
  for (const by of ["mira", "host", "operator"] as const) {
    const page = await signedInPage(t, world, { caller: world.market[by], path: "/help" });
    await look(page, by);
    await page.close();
  }
  const outside = await aPage(t, world);
  await outside.goto("/sign-in");
  await look(outside, "nobody");
  assert.deepEqual(Object.fromEntries(faults), {});

  await outside.evaluate(`(() => {
    const [image, button] = [document.querySelector("img"), document.querySelector("button")];
    image.removeAttribute("alt");
    Object.assign(button.style, { outline: "none", minWidth: "500px" });
  })()`);
  const found = (await faultsOf(outside)).join("\n");
  assert.match(
    found,
    /image-alt[^]*focus is not visible on <button[^]*wider than a phone/,
    "what a broken page would say",
  );
});
