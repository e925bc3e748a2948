import assert from "node:assert/strict";
import { test } from "node:test";
import { aCaller, inTransaction } from "../support/fixtures.ts";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";

const HOSTILE = `<img src=x onerror="document.title='broken'">\u202Egrinder`;

test("an operator runs the market", async (t) => {
  const world = await consoleWorld(t);
  const { app } = world;
  const admin = await aCaller(app.env.database, { isAdmin: true });
  const renter = await app.caller({ dollars: 20 });
  await inTransaction(app.env.database, async (tx) => {
    await tx.db.updateTable("users").set({ username: HOSTILE }).where("id", "=", renter.id).execute();
  });
  await app.host({ gpus: 2 });

  await t.test("sees the market at a glance, and what waits", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: "/operate" });
    await page.getByRole("heading", { level: 1, name: "The market at a glance" }).waitFor();
    const gpus = page.getByRole("table", { name: "GPUs by model" });
    await gpus.getByRole("row").nth(1).getByRole("cell", { name: "2" }).first().waitFor();
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await assertAccessible(page);
    await gpus.getByRole("link").first().click();
    await page.getByRole("table", { name: "Machines" }).getByRole("row").nth(1).waitFor();
    await assertAccessible(page);
  });

  await t.test(
    "finds a person with a hostile name, freezes them, lifts the freeze and gives them credit",
    async (t) => {
      const page = await signedInPage(t, world, { caller: admin, path: "/operate/search" });
      await page.getByRole("textbox", { name: "Search everything" }).fill("grinder");
      await page.keyboard.press("Enter");
      await page.getByRole("region", { name: "People" }).getByRole("link", { name: renter.email }).click();
      await page.getByRole("heading", { level: 1 }).getByText("U+202E").waitFor();
      assert.doesNotMatch(await page.title(), /^broken/, "the name is text");
      await assertAccessible(page);

      await page.getByRole("button", { name: "Freeze", exact: true }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Reason").fill("Reports are looked into.");
      await assertAccessible(page);
      await dialog.getByRole("button", { name: "Freeze", exact: true }).click();
      await page.getByRole("region", { name: "Freezes" }).getByText("Reports are looked into.").waitFor();
      const refused = await app.call({ method: "POST", url: "/api/v0/ssh/", secret: renter.secret, body: {} });
      assert.equal(refused.body.error, "account_frozen");

      await page.getByRole("button", { name: "Lift the freeze" }).click();
      await dialog.getByLabel("Reason").fill("The reports were wrong.");
      await dialog.getByRole("button", { name: "Lift the freeze" }).click();
      await page.getByText("Lifted: The reports were wrong.").waitFor();
      await page.getByRole("button", { name: "Freeze", exact: true }).waitFor();

      await page.getByRole("button", { name: "Give credit" }).click();
      await dialog.getByLabel("Amount in dollars").fill("5.25");
      await dialog.getByLabel("Reason").fill("For the trouble");
      await assertAccessible(page);
      await dialog.getByRole("button", { name: "Give credit" }).click();
      await page.locator("dd").getByText("$25.25").first().waitFor();
      const me = await app.call({ url: "/api/v0/users/current/", secret: renter.secret });
      assert.equal(me.body.credit, 25.25);
    },
  );

  await t.test("sees the console as a renter with a reason, changes nothing, and leaves the view", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: `/operate/users/${renter.id}` });
    await page.getByRole("button", { name: "More acts" }).click();
    await page.getByRole("menuitem", { name: "See the console as this person" }).click();
    // A menu that is closing still counts for axe.
    await page.getByRole("menu").waitFor({ state: "hidden" });
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("Case 12: nothing starts.");
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "See it" }).click();
    const bar = page.getByRole("region", { name: "View of another account" });
    await bar.getByText("Case 12: nothing starts.").waitFor();
    assert.equal(
      await page.getByRole("link", { name: "Announcements" }).count(),
      0,
      "the pages of an operator are away",
    );
    await page.goto("/account/secrets");
    await page.getByRole("button", { name: "Add a secret" }).first().click();
    await dialog.getByLabel("Name").fill("TOKEN");
    await dialog.getByLabel("Value").fill("abc");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("nothing can be changed in this view").waitFor();
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 390, height: 844 });
    await assertAccessible(page);
    await bar.getByRole("button", { name: "Leave the view" }).click();
    await page.getByRole("button", { name: "More acts" }).waitFor();
    assert.equal(await bar.count(), 0);
    const { body } = await app.call({ url: "/api/v0/notices/", secret: renter.secret });
    assert.match(JSON.stringify(body), /An administrator looks at your account/);
  });

  await t.test("invites somebody, and revokes the invitation", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: "/operate/invitations" });
    await page.getByText("Everybody can sign up here").waitFor();
    await page.getByText("No invitations").waitFor();
    await page.getByRole("button", { name: "Invite somebody" }).click();
    await page.getByRole("dialog").getByLabel("E-mail address").fill("hire@corp.example");
    await page.getByRole("button", { name: "Make the invitation" }).click();
    await page.getByText(/\/sign-up#token=[\w-]{43}/).waitFor();
    await page.getByRole("button", { name: "I have kept it" }).click();
    const row = page.getByRole("table", { name: "Invitations" }).getByRole("row").nth(1);
    await row.getByText("hire@corp.example").waitFor();
    await page.keyboard.press("Escape");
    await assertAccessible(page);
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No invitations").waitFor();
  });

  await t.test("keeps filters of the list of users in its address", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: "/operate/users?admin=true" });
    const table = page.getByRole("table", { name: "Users" });
    await table.getByRole("rowheader", { name: admin.username }).waitFor();
    assert.equal(await table.getByRole("rowheader").count(), 1);
    await page.getByLabel("Administrator").selectOption("");
    await page.getByLabel("Find people").fill("grinder");
    await page.waitForURL((url) => url.search === "?q=grinder");
    await table.getByRole("rowheader", { name: /U\+202E/ }).waitFor();
    await assertAccessible(page);
    await page.reload();
    await table.getByRole("rowheader", { name: /U\+202E/ }).waitFor();
    assert.equal(await table.getByRole("rowheader").count(), 1);
  });

  await t.test("publishes an announcement that a renter sees, and withdraws it", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: "/operate/announcements" });
    await page.getByText("Nothing was announced").waitFor();
    await page.getByRole("button", { name: "Announce something" }).click();
    const panel = page.getByRole("dialog");
    await panel.getByLabel("Title").fill("Maintenance <b>on Sunday</b>");
    await panel.getByLabel("Message").fill("The console is away from 02:00 UTC.");
    await assertAccessible(page);
    await panel.getByRole("button", { name: "Publish" }).click();
    await page.getByRole("list", { name: "Announcements" }).getByText("shown now").waitFor();

    const theirs = await signedInPage(t, world, { caller: renter, path: "/volumes" });
    const banner = theirs.getByRole("region", { name: "Announcements" });
    await banner.getByText("Maintenance <b>on Sunday</b>").waitFor();
    await assertAccessible(theirs);
    await banner.getByRole("button", { name: /Close announcement/ }).click();
    await banner.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw it" }).click();
    await page.getByText("Nothing was announced").waitFor();
  });

  await t.test("sees loops, settings, money, reports and instances", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: "/operate/loops" });
    await page.getByRole("rowheader", { name: /end-account-views/ }).waitFor();
    await assertAccessible(page);
    await page.goto("/operate/settings?q=data_dir");
    await page.getByRole("table", { name: "Settings" }).waitFor();
    await assertAccessible(page);
    await page.goto("/operate/money");
    await page.getByText("Owed to hosts").waitFor();
    await page.getByText("Nobody disputes a payment").waitFor();
    await assertAccessible(page);
    await page.goto("/operate/reports");
    await page.getByText("No flags").waitFor();
    await page.getByRole("button", { name: "Audit the books" }).click();
    await page.getByRole("table", { name: "Checks of the audit" }).waitFor();
    await assertAccessible(page);
    await page.goto("/operate/instances");
    await page.getByText("No instance matches").waitFor();
  });

  await t.test("on a phone nothing is wider than the screen", async (t) => {
    const page = await signedInPage(t, world, { caller: admin, path: "/operate", isPhone: true });
    for (const path of [
      "/operate",
      "/operate/users",
      `/operate/users/${renter.id}`,
      "/operate/money",
      "/operate/loops",
    ]) {
      await page.goto(path);
      await page.locator("main dl, main table, main ul").first().waitFor();
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${path} scrolls sideways`);
    }
  });

  await t.test("a renter is shown none of these pages", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: "/operate/users" });
    await page.getByRole("alert").waitFor();
    const main = page.getByRole("navigation", { name: "Main" });
    assert.equal(await main.getByRole("link", { name: "Loops" }).count(), 0);
  });
});
