import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser } from "../test/support/console/open-browser.ts";
import { measureConsole } from "./console.ts";
import { controlPage } from "./support/console/answers.ts";
import { installProbe, pressUntil, untilShown } from "./support/console/page-probe.ts";

test("a small benchmark of the console runs, and the page shows what the API answers at each key", async () => {
  const figures = await measureConsole({ offers: 60, visits: 1, rounds: 1 });
  assert.ok(figures.keysMs.length > 1 && figures.controlKeysMs.length === figures.keysMs.length);
  assert.ok(figures.contentMs.cold.length === 1 && figures.firstKeyMs.warm.length === 1);
  const compressed = (figures.bytes.get("Script") ?? 0) + (figures.bytes.get("Stylesheet") ?? 0);
  assert.ok(compressed > 0 && compressed <= 250_000, `the first visit loads ${compressed} bytes`);
});

test("a page that shows another answer than the API's voids the figures", async (t) => {
  const page = await (await openBrowser(t)).newPage();
  const [none, right, wrong] = [answerOf([]), answerOf([4, 7]), answerOf([4, 8])];
  await installProbe(page, none);
  const html = controlPage(
    new Map([
      ["", none],
      ["a", right],
    ]),
  );
  await page.route("http://control.test/", (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.goto("http://control.test/");
  await untilShown(page);
  await page.locator("input").focus();
  assert.ok((await pressUntil(page, "a", right)) > 0);
  await assert.rejects(pressUntil(page, "b", wrong, 300), /never showed the answer: it shows 4,7 2 instead of 4,8 2/);
});

function answerOf(ids: readonly number[]) {
  return { ids, matching: ids.length, text: `${ids.join()} ${ids.length}` };
}
