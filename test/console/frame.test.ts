import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { aPage, consoleWorld, signedInPage } from "../support/console/console-world.ts";

test("the frame of the console", async (t) => {
  const world = await consoleWorld(t);
  const caller = await world.app.caller({ dollars: 118.2 });

  await t.test("a person signs in with a key, comes to the page they asked for, and signs out", async (t) => {
    const page = await aPage(t, world);
    await page.goto("/templates");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.waitForFunction("document.title === 'Sign in · Berth'");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Sign in with an API key" }).click();
    await page.getByLabel("API key").fill("berth_wrong");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("API key").fill(caller.secret);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/templates");
    await page.getByRole("button", { name: "Person" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto("/templates");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  await t.test("it shows sections, money and landmarks, and nothing that axe complains about", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/volumes" });
    await page.getByRole("button", { name: /Spending: \$0.00\/h · \$118.20/ }).waitFor();
    const main = page.getByRole("navigation", { name: "Main" });
    await main.getByRole("link", { name: "Volumes" }).and(page.locator("[aria-current=page]")).waitFor();
    assert.equal(await main.getByRole("link", { name: "Loops" }).count(), 0, "only operators see Operate");
    assert.match(await page.title(), /Volumes/);
    await assertAccessible(page);
    await page.getByRole("button", { name: /Spending/ }).click();
    await page.getByText("Nothing costs money now.").waitFor();
    await assertAccessible(page);
  });

  await t.test(
    "a visit asks who the person is once, before the code has come, and begins the search of the market",
    async (t) => {
      const page = await signedInPage(t, world, { caller, path: "/help" });
      const asked: string[] = [];
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith("/api/")) asked.push(`${pathname} ${request.postData() ?? ""}`);
      });
      await page.goto("/market?q=num_gpus%3E%3D2&type=bid");
      await page.getByText("The market has no offers now").waitFor();
      const askedFor = (path: string) => asked.filter((one) => one.startsWith(`/api/v0/${path}`));
      assert.equal(asked[0], "/api/v0/users/current/ ");
      assert.equal(askedFor("users/current/").length, 1, asked.join("\n"));
      const searches = askedFor("search/asks/");
      assert.equal(searches.length, 2, searches.join("\n"));
      assert.match(searches[0] ?? "", /"q":"rentable=true num_gpus>=2","type":"bid"/);
      assert.equal(await page.locator("#shell").count(), 0, "the frame takes the place of the shell");
      const { request } = page.context();
      assert.match(await (await request.get("/market")).text(), /id="shell"/);
      assert.doesNotMatch(await (await request.get("/sign-in")).text(), /id="shell"/, "it has no frame");
    },
  );

  await t.test("it follows the events of the account", async (t) => {
    const page = await aPage(t, world);
    const opened = page.waitForResponse((response) => response.url() === `${world.url}/api/v0/events/`);
    await page.goto("/sign-in");
    await page.getByRole("button", { name: "Sign in with an API key" }).click();
    await page.getByLabel("API key").fill(caller.secret);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    const answer = await opened;
    assert.deepEqual([answer.status(), answer.headers()["content-type"]], [200, "text/event-stream"]);
  });

  await t.test("the first stop of the keyboard skips to the page", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/queue" });
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Skip to the page" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("main:focus").waitFor();
  });

  await t.test("keys open the palette, pages and help", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/queue" });
    await page.keyboard.press("Control+k");
    await page
      .getByRole("combobox", { name: /Search/ })
      .and(page.locator(":focus"))
      .waitFor();
    await page.keyboard.type("volum");
    await page.getByRole("option", { name: /Volumes/, selected: true }).waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Volumes" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.getByRole("heading", { level: 1, name: "Instances" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "hidden" });
  });

  await t.test("an address of no page says so, and leads back", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/instances/7/nonsense" });
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
    const answer = await page.goto("/nonsense");
    assert.equal(answer?.status(), 404);
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor();
    await page.getByRole("link", { name: "To your instances" }).click();
    await page.getByRole("heading", { level: 1, name: "Instances" }).waitFor();
  });

  await t.test("on a phone the sidebar is a drawer, and nothing is wider than the screen", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/market", isPhone: true });
    assert.equal(await page.getByRole("navigation", { name: "Main" }).count(), 0);
    assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways");
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("dialog").getByRole("link", { name: "Endpoints" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("dialog").getByRole("link", { name: "Endpoints" }).click();
    await page.getByRole("heading", { level: 1, name: "Endpoints" }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  });

  await t.test("a person chooses dark colours, and the next visit has them", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/queue" });
    await page.getByRole("button", { name: "Person" }).click();
    await page.getByText("Dark", { exact: true }).click();
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
    await page.reload();
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
  });

  await t.test("a hostile name of the account is text", async (t) => {
    const page = await signedInPage(t, world, { caller, path: "/queue" });
    const name = `<img src=x onerror="document.title='broken'">\u202Eevil`;
    await world.app.env.pool.query("update users set username = $1 where id = $2", [name, caller.id]);
    await page.reload();
    await page
      .getByRole("button", { name: /^Account/ })
      .getByText("U+202E")
      .waitFor();
    assert.doesNotMatch(await page.title(), /broken/);
  });
});
