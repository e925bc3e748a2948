import assert from "node:assert/strict";
import { globSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";

const DOCS = path.join(import.meta.dirname, "../../docs");

test("a person reads the help in the console", async (t) => {
  const world = await consoleWorld(t);
  const caller = await world.app.caller();

  await t.test("every page of the documentation is in the list, and opens", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/help" });
    await page.getByRole("link", { name: "Rent a machine", exact: true }).waitFor();
    const names = globSync("*.md", { cwd: DOCS }).map((file) => path.basename(file, ".md").toLowerCase());
    for (const name of names) {
      const count = await page.locator(`main a[href="/help/${name}"]`).count();
      assert.equal(count > 0, name !== "architecture", name);
    }
    await assertAccessible(page);
    await page.getByRole("link", { name: "Rent a machine", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Rent a machine" }).waitFor();
    await page.getByRole("button", { name: "Copy the code" }).first().waitFor();
    await assertAccessible(page);
  });

  await t.test("a search finds headings, and leads to them", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/help" });
    await page.getByRole("searchbox", { name: "Search the help pages" }).fill("join another machine");
    await page.getByRole("link", { name: /Join another machine/ }).click();
    await page.getByRole("heading", { level: 2, name: /^Join another machine/ }).waitFor();
    assert.equal(new URL(page.url()).hash, "#join-another-machine");
    await page.goto("/help?q=nonsensical");
    await page.getByText("No page has these words").waitFor();
  });

  await t.test("a page of the console leads to its help, and the palette finds help", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/queue" });
    await page.getByRole("link", { name: "Help for this page" }).click();
    await page.waitForURL("**/help/queue");
    await page.getByRole("main").getByRole("link", { name: "All help pages" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("help bid");
    await page
      .getByRole("option", { name: /^Bid.*Help/ })
      .first()
      .click();
    await page.waitForURL("**/help/bidding");
  });

  await t.test("operations are listed, searched and shown with fields and examples", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/help/reference" });
    await page.getByRole("searchbox", { name: "Search the operations" }).fill("search offers");
    await page.getByRole("link", { name: "Search offers", exact: true }).click();
    await page.getByText("POST /api/v0/bundles/").waitFor();
    await page
      .getByRole("region", { name: "Answer", exact: true })
      .getByText("offers[].gpu_name", { exact: true })
      .waitFor();
    await page.getByRole("heading", { name: "Example of an answer" }).waitFor();
    await assertAccessible(page);
  });

  await t.test("on a phone nothing is wider than the screen, and an unknown page says so", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/help/rent", isPhone: true });
    assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways");
    await page.goto("/help/nonsense");
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
  });
});
