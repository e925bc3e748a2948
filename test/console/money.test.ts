import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";
import { settleNow } from "../support/money/charges.ts";
import { listedHost } from "../support/money/contracts.ts";
import { rentAndRun } from "../support/rentals.ts";

const LABEL = "<b>training</b>";

test("a renter looks after their money", async (t) => {
  const world = await consoleWorld(t);
  const host = await listedHost(world.app, { dollarsPerHour: 0.5 }, { gpus: 2 });
  const caller = await world.app.caller({ dollars: 10 });
  const id = await rentAndRun(world.app, caller, host, { label: LABEL });
  for (let step = 0; step < 30; step += 1) {
    world.app.clock.jump(10_000);
    await host.count();
  }
  await settleNow(world.app);

  await t.test("they see where it goes", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/money" });
    await page.getByText("Runs dry").waitFor();
    await page.getByRole("figure").getByText(LABEL).first().waitFor();
    await page.getByRole("table", { name: "Biggest costs now" }).getByText(LABEL).waitFor();
    await assertAccessible(page);
    await page.goto("/money?by=label");
    await page.locator('input[type="radio"][value="label"]:checked').waitFor({ state: "attached" });
    await page.getByRole("figure").getByText(LABEL).first().waitFor();
    await page.getByText("Person", { exact: true }).click();
    await page.getByRole("figure").getByText(caller.username).first().waitFor();
    assert.equal(new URL(page.url()).searchParams.get("by"), "person");
  });

  await t.test("a charge says why it was made", async (t) => {
    const page = await signedInPage(t, world, { caller, path: `/money/charges?view=lines&instance=${id}` });
    await page
      .getByRole("button", { name: /^Why line/ })
      .first()
      .click();
    await page.getByRole("dialog", { name: "Why this was charged" }).getByText("Counted", { exact: true }).waitFor();
    await assertAccessible(page);
  });

  await t.test("a key that may stop the instance and nothing else stops it each night", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/account/keys" });
    await page.getByRole("button", { name: "Make a key" }).click();
    await page.getByLabel("Name").fill("nights");
    await page.getByText("Use one instance").click();
    await page.getByLabel("Instance", { exact: true }).selectOption(String(id));
    await page.getByLabel("Start, stop and rename it").check();
    await page.locator("pre", { hasText: '"api.instance.update": {' }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Make the key" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("cell", { name: `Use instance ${id}` }).waitFor();
    await page.goto(`/instances/${id}/settings`);
    await page.getByRole("button", { name: "Add a schedule" }).click();
    const form = page.getByRole("form", { name: "Schedule" });
    await form.getByText("It runs daily at 03:00 UTC.").waitFor();
    await form.getByLabel("Time (UTC)").fill("22:30");
    assert.match(await form.getByLabel("Acts with").locator("option:checked").innerText(), /nights/);
    await assertAccessible(page);
    await form.getByRole("button", { name: "Make the schedule" }).click();
    const row = page.getByRole("row", { name: `/api/v0/instances/${id}/` });
    await row.getByText("daily at 22:30 UTC").waitFor();
    await row.getByRole("button", { name: "Change schedule" }).click();
    await form.getByText(/^Only key \d+ may read the body/).waitFor();
    await form.getByLabel("What", { exact: true }).selectOption({ label: "Stop an instance" });
    await form.getByLabel("How often").selectOption({ label: "Each week" });
    await form.getByRole("button", { name: "Change the schedule" }).click();
    await row.getByText("Mondays at 22:30 UTC").waitFor();
    await row.getByRole("button", { name: "Runs of schedule" }).click();
    await page.getByText("No runs yet").waitFor();
  });

  await t.test("the charges of an instance come with the server's sum", async (t) => {
    const page = await signedInPage(t, world, { caller, path: `/instances/${id}/charges` });
    await page.getByText(/^\$0\.\d+ in \d+ lines?\.$/).waitFor();
  });

  await t.test("they set a limit, see its bar, change it and remove it", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/money/limits" });
    await page.getByRole("button", { name: "Set the first limit" }).click();
    const form = page.getByRole("form", { name: "Limit" });
    await form.getByLabel("Limit in dollars").fill("5");
    await assertAccessible(page);
    await form.getByRole("button", { name: "Set the limit" }).click();
    await page.getByRole("heading", { name: "The whole account: $5.00 per day" }).waitFor();
    await page
      .getByRole("img", { name: /^The whole account per day: spent \$.*, held \$.*, left \$.* of \$5\.00/ })
      .waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Change" }).click();
    await form.getByLabel("Limit in dollars").fill("8");
    await form.getByRole("button", { name: "Change the limit" }).click();
    await page.getByRole("heading", { name: "The whole account: $8.00 per day" }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("No limit is set").waitFor();
  });

  await t.test("they wait in the queue from the market, and cancel", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/market?q=num_gpus%3D64" });
    await page.getByRole("link", { name: "wait in the queue" }).click();
    const form = page.getByRole("form", { name: "Wait for a machine" });
    assert.equal(await form.getByLabel("Conditions").inputValue(), "num_gpus=64");
    await form.getByLabel("Highest price in dollars an hour").fill("0.4");
    await form.getByLabel("Image").fill("busybox");
    await form.getByLabel("Name").fill(LABEL);
    await form.getByRole("button", { name: "Wait in the queue" }).click();
    const request = page.getByRole("dialog", { name: /^Request \d+/ });
    await request.getByText("No offer fits at any price.").waitFor();
    await request.getByText(LABEL).waitFor();
    await assertAccessible(page);
    await request.getByRole("button", { name: "Cancel the request" }).click();
    await page
      .getByRole("dialog", { name: /^Cancel request/ })
      .getByRole("button", { name: "Cancel the request" })
      .click();
    await request.getByText("cancelled", { exact: true }).waitFor();
  });

  await t.test("without card payments they read how credit is given, and give some away", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/money/top-up" });
    await page.getByText("This service takes no cards").waitFor();
    const other = await world.app.caller();
    const form = page.getByRole("form", { name: "Transfer" });
    await form.getByLabel("To").fill(String(other.id));
    await form.getByLabel("Dollars").fill("1");
    await assertAccessible(page);
    await form.getByRole("button", { name: "Transfer" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Transfer $1.00" }).click();
    await page.getByText(`$1.00 went to ${other.id}.`).waitFor();
    await page.goto("/money/invoices");
    await page.getByRole("table", { name: "Movements of money" }).getByText("-$1.00").waitFor();
    await assertAccessible(page);
  });

  await t.test("nothing is cut off on a phone", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/money", isPhone: true });
    for (const path of [
      "/money",
      "/money/charges",
      "/money/charges?view=lines",
      "/money/limits",
      "/money/top-up",
      "/queue",
    ]) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page
        .getByRole("status", { name: /^Loading/ })
        .first()
        .waitFor({ state: "detached" });
      const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(wider <= 0, `${path} is ${wider} pixels too wide`);
    }
  });
});
