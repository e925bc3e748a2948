import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage, type ConsoleWorld } from "../support/console/console-world.ts";
import type { TestCaller } from "../support/fixtures.ts";

/** Stops that a person passes at most on the way to a button. */
const STOPS_MAX = 150;

/** Presses Tab until the focus is there, as a person without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < STOPS_MAX; stop += 1) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    // A terminal has Tab for its shell, until Escape.
    if ((await page.locator(".xterm:focus-within").count()) > 0) await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
  }
  assert.fail(`the keyboard did not reach ${String(target)}`);
}

async function compare(t: TestContext, world: ConsoleWorld, caller: TestCaller): Promise<void> {
  const page = await signedInPage(t, world, { caller, path: "/market" });
  await page.getByText("5 of 5 offers").waitFor();
  const evil = page.getByRole("row").filter({ hasText: "<b>H100</b>" });
  await evil.getByRole("checkbox").check();
  await page.getByText("Choose another offer to compare").waitFor();
  await page.getByRole("row").filter({ hasText: "2× RTX 4090" }).getByRole("checkbox").check();
  await page.getByText("2 offers side by side").waitFor();
  await page
    .getByRole("button", { name: /^Look at offer/ })
    .nth(1)
    .waitFor();
  await assertAccessible(page);
  const other = await signedInPage(t, world, {
    caller,
    path: new URL(page.url()).pathname + new URL(page.url()).search,
  });
  const table = other.getByRole("region", { name: "Comparison" });
  await table.getByRole("columnheader", { name: /<b>H100<\/b> U\+202E evil/ }).waitFor();
  await table
    .getByRole("row", { name: /^Price/ })
    .getByText("(best)")
    .waitFor();
  await table
    .getByRole("button", { name: /^Leave out offer/ })
    .first()
    .click();
  await table.getByText("Choose another offer to compare").waitFor();
}

test("a renter searches the market, rents, and ends the rental", async (t) => {
  const world = await consoleWorld(t);
  const { app } = world;
  const host = await app.host({ gpuName: "RTX 4090", gpus: 4 });
  await app.host({ gpuName: "<b>H100</b> \u202E evil", gpus: 1 });
  await app.settled();
  const caller = await app.caller({ dollars: 50 });

  await t.test("the text and the fields are one query, which is in the address", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/market" });
    await page.getByText("5 of 5 offers").waitFor();
    await page.getByRole("rowheader", { name: /<b>H100<\/b>/ }).waitFor();
    await assertAccessible(page);
    await page.getByLabel("GPUs from").fill("2");
    await page.getByLabel("GPU", { exact: true }).selectOption("RTX 4090");
    await page.getByText("3 of 5 offers").waitFor();
    assert.equal(await page.getByLabel("Conditions").inputValue(), "num_gpus>=2 gpu_name=RTX_4090");
    const { searchParams } = new URL(page.url());
    assert.equal(searchParams.get("q"), "num_gpus>=2 gpu_name=RTX_4090");
    await page.getByLabel("Conditions").fill("num_gpus>=2 num_gp");
    await page
      .getByText(/num_gp/)
      .first()
      .waitFor();
    await page.getByLabel("Conditions").fill("num_gpus>=40");
    await page.getByText("No offer matches").waitFor();
    await page.getByRole("button", { name: "Show all 5 offers" }).click();
    await page.getByText("5 of 5 offers").waitFor();
  });

  await t.test("offers are compared side by side, in an address that can be shared", (t) => compare(t, world, caller));

  await t.test(
    "j and k move through the offers, x chooses one, Enter opens it, and / goes to the search",
    async (t) => {
      const page = await signedInPage(t, world, { caller, path: "/market" });
      await page.getByText("5 of 5 offers").waitFor();
      const at = (index: number) => page.locator(`tbody tr:nth-child(${index})[data-cursor]`).waitFor();
      await page.keyboard.press("j");
      await at(1);
      await page.keyboard.press("j");
      await at(2);
      await page.keyboard.press("k");
      await at(1);
      await page.keyboard.press("x");
      await page.getByText("Choose another offer to compare").waitFor();
      assert.ok(await page.locator("tbody tr:nth-child(1)").getByRole("checkbox").isChecked());
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("/");
      await page.keyboard.type("j");
      assert.equal(await page.getByLabel("Conditions").inputValue(), "j", "a key in a field is a letter");
    },
  );

  await t.test("a search is saved under a name that is shown as text, and found again", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/market?q=num_gpus=4" });
    await page.getByRole("button", { name: /Saved searches/ }).click();
    await page.getByLabel("Name of this search").fill("<img src=x onerror=alert(1)>");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "Saved searches (1)" }).waitFor();
    await page.goto("/market");
    await page.getByRole("button", { name: "Saved searches (1)" }).click();
    await page.getByRole("menuitem", { name: /<img src=x/ }).click();
    await page.getByText("1 of 5 offers").waitFor();
  });

  await t.test("the keyboard alone rents and destroys, and the page follows the host", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/market?q=gpu_name=RTX_4090" });
    await tabTo(page, page.getByRole("button", { name: /^Rent 2× RTX 4090/ }));
    await page.keyboard.press("Enter");
    await tabTo(page, page.getByLabel("Image"));
    await page.keyboard.type("ubuntu:24.04");
    await tabTo(page, page.getByLabel("Name", { exact: true }));
    await page.keyboard.type("trainer");
    const rent = page.getByRole("button", { name: /^Rent for \$0\.60/ });
    await rent.waitFor();
    await assertAccessible(page);
    await tabTo(page, rent);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: /Instance \d+ trainer/ }).waitFor();
    await host.obey();
    await page.getByText(/^Running for/).waitFor();
    await assertAccessible(page);
    await tabTo(page, page.getByRole("button", { name: "Destroy" }));
    await page.keyboard.press("Enter");
    const question = page.getByRole("dialog", { name: /Destroy instance/ });
    await question.getByText("is lost").waitFor();
    await tabTo(page, question.getByRole("button", { name: "Destroy" }));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Instances" }).waitFor();
    await host.obey();
    await page.getByText("No instances yet").waitFor();
    await app.assertBooks();
  });

  await t.test("two browsers of one account see the same instance, and a stop can be taken back", async (t) => {
    const one = await signedInPage(t, world, { caller, path: "/instances" });
    const other = await signedInPage(t, world, { caller, path: "/instances" });
    await one.getByText("No instances yet").waitFor();
    await app.settled();
    const offer = (await app.offersOf(host)).get(1);
    const rented = await app.call({
      method: "PUT",
      url: `/api/v0/asks/${offer}/`,
      secret: caller.secret,
      body: { image: "ubuntu:24.04", disk: 8, label: "<i>hostile</i>" },
    });
    assert.equal(rented.status, 200, rented.text);
    await host.obey();
    for (const page of [one, other]) await page.getByRole("row", { name: /<i>hostile<\/i>/ }).waitFor();
    await other.getByRole("button", { name: /^Ways into instance/ }).click();
    await other.getByRole("dialog").getByRole("link", { name: "Terminal" }).waitFor();
    await assertAccessible(other);
    await other.keyboard.press("Escape");
    await one.getByRole("link", { name: /<i>hostile<\/i>/ }).click();
    await one.getByText(/^Running for/).waitFor();
    await one.getByRole("button", { name: "Stop" }).click();
    await one.getByRole("button", { name: "Undo" }).click();
    await one.getByRole("button", { name: "Stop" }).click();
    await one.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
    await one.getByRole("button", { name: "Undo" }).waitFor({ state: "hidden" });
    await host.obey();
    await other.getByRole("row", { name: /stopped/ }).waitFor();
    const tabs = one.getByRole("navigation", { name: "Instance" });
    await tabs.getByRole("link", { name: "Events" }).click();
    await one.getByRole("heading", { name: "Events" }).waitFor();
    await tabs.getByRole("link", { name: "Charges" }).click();
    await one.getByRole("table", { name: "Charges" }).or(one.getByText("Nothing was charged yet")).waitFor();
    await tabs.getByRole("link", { name: "Settings" }).click();
    await one.getByLabel("Name").fill("calm");
    await one.getByRole("button", { name: "Rename" }).click();
    await other.getByRole("link", { name: /calm/ }).waitFor();
    await assertAccessible(one);
  });
});
