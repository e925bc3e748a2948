import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";
import { rentAndRun } from "../support/rentals.ts";

test("volumes in the console", async (t) => {
  const world = await consoleWorld(t);
  const { app } = world;
  const [owner, renter] = [await app.caller(), await app.caller()];
  const host = await app.host({ owner });
  const body = { machine: host.machineId, size: 100, price_disk: 0.2 };
  const listed = await app.call({ method: "POST", url: "/api/v0/volumes/", secret: owner.secret, body });
  assert.equal(listed.status, 200, listed.text);
  await app.settled();

  await t.test("a renter rents a volume, and deletes it after reading what is lost", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: "/volumes" });
    await page.getByText("No volumes", { exact: true }).waitFor();
    const space = page.getByRole("table", { name: "Space for a volume" });
    await space.getByRole("button", { name: "Rent" }).waitFor();
    await assertAccessible(page);
    await page.getByLabel("Size in GB").fill("30");
    await page.getByLabel("Name").fill("data");
    await space.getByRole("button", { name: "Rent" }).click();
    const dialog = page.getByRole("dialog", { name: /Rent a volume of 30 GB/ });
    await dialog.getByText(/set aside/).waitFor();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: /^Rent for/ }).click();
    const volumes = page.getByRole("table", { name: "Your volumes" });
    await volumes.getByRole("rowheader", { name: "data" }).waitFor();
    await assertAccessible(page);
    await volumes.getByRole("button", { name: "Delete" }).click();
    const question = page.getByRole("dialog", { name: /Delete volume/ });
    await question.getByText(/Nothing is stored on/).waitFor();
    await question.getByRole("button", { name: "Delete volume" }).click();
    await page.getByText("No volumes", { exact: true }).waitFor();
  });

  await t.test(
    "a renter connects a storage, copies an instance to it, watches and cancels that, and disconnects",
    async (t) => {
      const id = await rentAndRun(app, renter, host);
      const page = await signedInPage(t, world, { caller: renter, path: "/volumes" });
      await page.getByText("No clouds", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Connect a storage" }).click();
      const form = page.getByRole("dialog", { name: "Connect a storage" });
      await form.getByText(/its operator can read them/).waitFor();
      await form.getByLabel("Name").fill("<b>backups</b>");
      await form.getByLabel(/^Access key/).fill("AKIAEXAMPLE");
      await form.getByLabel("Secret access key").fill("secret");
      await assertAccessible(page);
      await form.getByRole("button", { name: "Connect", exact: true }).click();
      const clouds = page.getByRole("table", { name: "Cloud connections" });
      await clouds.getByRole("rowheader", { name: "<b>backups</b>" }).waitFor();
      await clouds.getByRole("button", { name: "Copy", exact: true }).click();
      const copy = page.getByRole("dialog", { name: /Copy with/ });
      await copy.getByLabel("Path in the storage").fill("bucket/out");
      await assertAccessible(page);
      await copy.getByRole("button", { name: "Copy", exact: true }).click();
      const [task] = await host.tasks(1);
      assert.equal(task?.action.type === "cloud_copy" && task.action.place.id, id);
      const copies = page.getByRole("table", { name: "Copies with clouds" });
      await copies.getByText(/copying from C\.\d+ to s3\.\d+/).waitFor();
      await assertAccessible(page);
      await copies.getByRole("button", { name: "Cancel copy" }).click();
      await copies.getByText(/was cancelled/).waitFor();
      await clouds.getByRole("button", { name: /^Delete/ }).click();
      const question = page.getByRole("dialog", { name: /Delete cloud connection/ });
      await question.getByRole("button", { name: "Delete" }).click();
      await page.getByText("No clouds", { exact: true }).waitFor();
    },
  );

  await t.test("without space on network disks the page says who would offer it", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: "/volumes?space=network", isPhone: true });
    await page.getByText(/hosts with several machines/).waitFor();
    const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert.equal(await page.evaluate<number>(wide), 0);
    await assertAccessible(page);
  });
});
