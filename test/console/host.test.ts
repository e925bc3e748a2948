import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";
import { aJoinedHost, aJoiner, askToJoin } from "../support/hosts/joins.ts";
import type { FakeHost } from "../support/hosts/fake-host.ts";
import { rentAndRun } from "../support/rentals.ts";

const HOSTNAME = `<img src=x onerror="document.title='broken'">`;

test("a host joins a machine, lists it and sees it rented", async (t) => {
  const world = await consoleWorld(t);
  const { app } = world;
  const owner = await app.caller({ dollars: 0 });
  const renter = await app.caller();
  const joiner = aJoiner();
  const own: FakeHost[] = [];

  await t.test("pages of an account without machines say what would fill them", async (t) => {
    const page = await signedInPage(t, world, { caller: owner, path: "/host/machines" });
    await page.getByText("No machines").waitFor();
    await assertAccessible(page);
    for (const [path, text] of [
      ["/host/earnings", "No earnings in this time"],
      ["/host/payouts", "No payouts yet"],
    ] as const) {
      await page.goto(path);
      await page.getByText(text).waitFor();
      await assertAccessible(page);
    }
  });

  const page = await signedInPage(t, world, { caller: owner, path: "/host/join", expected: /409/ });

  await t.test("a token gives one command, and the page follows the machine that runs it", async () => {
    await page.getByLabel("Name of the token").fill("rack 1");
    await page.getByRole("button", { name: "Make a token" }).click();
    const command = (await page.getByText(/^\.\/berth agent --server/).textContent()) ?? "";
    assert.ok(command.startsWith(`./berth agent --server ${world.url} --token `));
    const progress = page.getByRole("list", { name: "Progress" });
    await progress.getByText(/the token waits for a machine/).waitFor();
    await assertAccessible(page);
    const answer = await askToJoin(app, command.split(" ").at(-1) ?? "", joiner);
    assert.equal(answer.status, 200, answer.text);
    await progress.getByText(/the token was used/).waitFor();
    const host = aJoinedHost(app, String(answer.body.credential), joiner, { facts: { hostname: HOSTNAME } });
    own.push(host);
    await host.connect();
    await app.settled();
    await progress.getByText("2× RTX 4090", { exact: false }).waitFor();
    await progress.getByText(HOSTNAME, { exact: false }).waitFor();
    await progress.getByText(/\d+ of \d+ checks passed/).waitFor();
    await assertAccessible(page);
    await progress.getByRole("link", { name: /Prices and terms/ }).click();
    await page.getByRole("heading", { level: 1, name: `Machine ${host.machineId} ${HOSTNAME}` }).waitFor();
    assert.notEqual(await page.title(), "broken");
  });

  const [machine] = own;
  assert.ok(machine);
  const path = `/host/machines/${machine.machineId}`;

  await t.test("the machine is listed at a price", async () => {
    await page.getByRole("button", { name: "Change prices" }).click();
    const form = page.getByRole("dialog", { name: /Listing of machine/ });
    await form.getByLabel("Price of a GPU, $/h").fill("0.55");
    await form.getByLabel("Minimum bid, $/h").fill("0.2");
    await assertAccessible(page);
    await form.getByRole("button", { name: "Change the listing" }).click();
    await form.waitFor({ state: "hidden" });
    await page.getByRole("region", { name: "Price" }).getByText("$0.55/h").waitFor();
    const { rows } = await app.env.pool.query("select 1 from offers where machine_id = $1 and retired_at is null", [
      machine.machineId,
    ]);
    assert.ok(rows.length > 0, "it has offers");
  });

  await t.test("a rental is in the calendar without the name of its renter", async () => {
    await rentAndRun(app, renter, machine);
    await page.reload();
    await page.getByRole("img", { name: /GPU \d: Rented on demand/ }).waitFor();
    await page.getByText("Rentals as a table").click();
    await page.getByRole("cell", { name: "on demand" }).waitFor();
    await assertAccessible(page);
  });

  await t.test("a maintenance is announced and cancelled", async () => {
    await page.getByRole("button", { name: "Schedule a maintenance" }).click();
    const form = page.getByRole("dialog", { name: /Maintenance of machine/ });
    const begin = new Date(app.clock.now().getTime() + 2 * 86_400_000).toISOString().slice(0, 16);
    await form.getByLabel("Begins (UTC)").fill(begin);
    await form.getByLabel("Reason").fill("a new <b>fan</b>");
    await assertAccessible(page);
    await form.getByRole("button", { name: "Announce it" }).click();
    await form.waitFor({ state: "hidden" });
    const announced = page.getByRole("table", { name: "Maintenances" });
    await announced.getByText("software: a new <b>fan</b>").waitFor();
    await announced.getByRole("button", { name: /Cancel/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel", exact: true }).last().click();
    await page.getByText("No maintenance is announced").waitFor();
  });

  await t.test("the list shows the machine, and a phone shows all of it", async (t) => {
    await page.goto("/host/machines");
    await page.getByRole("row", { name: /1 rented, 1 free/ }).waitFor();
    await assertAccessible(page);
    const phone = await signedInPage(t, world, { caller: owner, path, isPhone: true });
    await phone.getByRole("img", { name: /GPU \d: Rented on demand/ }).waitFor();
    for (const place of [path, "/host/machines", "/host/join", "/host/earnings", "/host/payouts"]) {
      await phone.goto(place);
      await phone.getByRole("heading", { level: 1 }).waitFor();
      assert.ok(
        await phone.evaluate("document.documentElement.scrollWidth <= innerWidth"),
        `${place} scrolls sideways`,
      );
    }
    await assertAccessible(phone);
  });

  await t.test("a machine that is rented is not deleted, and the page says why", async () => {
    await page.goto(path);
    await page.getByRole("button", { name: /^Delete machine/ }).focus();
    await page.getByRole("tooltip", { name: /Clients still use machine \d+: one contract/ }).waitFor();
  });
});
