import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { aPage, consoleWorld } from "../support/console/console-world.ts";
import { run } from "../support/berth.ts";
import { codeOf, done, nextCode, PASSWORD, signUp } from "../support/second-factors.ts";

const HOSTILE = `<img src=x onerror="document.title='broken'">\u202E`;

test("a renter keeps their account", async (t) => {
  const world = await consoleWorld(t);
  const { app, url } = world;
  const person = await signUp(app);
  await done(app, person.secret, "POST", "/auth/apikeys/", { name: HOSTILE });
  const page = await aPage(t, world);
  await page.goto("/sign-in?next=%2Faccount%2Fssh-keys");
  await page.getByLabel("Name or e-mail address").fill(person.name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();

  await t.test("the browser makes an SSH key, saves its private half and sends the public one alone", async () => {
    await page.getByRole("heading", { level: 1, name: "SSH keys" }).waitFor();
    await page.getByRole("button", { name: "Add a key" }).click();
    await page.getByText("Make one here").click();
    await page.getByLabel("Name").fill("me@browser");
    await assertAccessible(page);
    const sent = page.waitForRequest(
      (request) => request.url().endsWith("/api/v0/ssh/") && request.method() === "POST",
    );
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Make and save the key" }).click();
    const file = await (await saved).path();
    const text = (await sent).postData() ?? "";
    assert.match(await readFile(file, "utf8"), /^-----BEGIN OPENSSH PRIVATE KEY-----/);
    assert.doesNotMatch(text, /PRIVATE/);
    await run("chmod", ["600", file]);
    const derived = await run("ssh-keygen", ["-y", "-f", file]);
    const [stored] = await done(app, person.secret, "GET", "/ssh/");
    assert.equal(derived.stdout.trim(), stored.public_key);
    await page.getByRole("table", { name: "SSH keys" }).getByRole("rowheader", { name: "me@browser" }).waitFor();
    await assertAccessible(page);
  });

  await t.test("a key gets the rights that it needs and no others, and is shown once", async () => {
    await page.goto("/account/keys");
    await page.getByRole("table", { name: "API keys" }).getByRole("rowheader", { name: "U+202E" }).waitFor();
    await page.getByRole("button", { name: "Make a key" }).click();
    await page.getByLabel("Name").fill("dashboard");
    await page.getByText("Look, and change nothing").click();
    await page.locator("pre", { hasText: '"instance_read": {}' }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Make the key" }).click();
    const key = await page
      .getByRole("dialog")
      .getByText(/^berth_/)
      .textContent();
    assert.ok(key !== null);
    await page.getByRole("button", { name: "I have kept it" }).click();
    const call = { url: "/api/v0/auth/apikeys/", secret: key } as const;
    assert.equal((await app.call({ url: "/api/v0/users/current/", secret: key })).status, 200);
    assert.equal((await app.call({ ...call, method: "POST", body: { name: "more" } })).status, 403);
    await page.getByRole("button", { name: "Delete the key “dashboard”" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("rowheader", { name: "dashboard" }).waitFor({ state: "detached" });
    assert.equal((await app.call({ url: "/api/v0/users/current/", secret: key })).status, 401);
    assert.doesNotMatch(await page.title(), /broken/);
  });

  await t.test("an authenticator app is set up, and the next sign-in asks for its code", async () => {
    await page.goto("/account/security");
    await page.getByRole("button", { name: "Add an authenticator app" }).click();
    await page.getByLabel("Your password").fill(PASSWORD);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("img", { name: "QR code of the new authenticator" }).waitFor();
    await assertAccessible(page);
    const secret = (await page.getByRole("dialog").locator("code").first().textContent()) ?? "";
    await page.getByLabel("Name").fill("phone");
    await page.getByLabel(/^Code/).fill(codeOf(app, secret));
    await page.getByRole("button", { name: "Switch it on" }).click();
    const codes = await page.getByRole("dialog", { name: "Your backup codes" }).locator("pre").textContent();
    assert.equal(codes?.split("\n").length, 10);
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("list", { name: "Second factors" }).locator("bdi", { hasText: "phone" }).first().waitFor();
    await assertAccessible(page);
    nextCode(app);
    await page.getByRole("button", { name: "Person" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Name or e-mail address").fill(person.name);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Second factor" }).waitFor();
    await page.getByLabel("Code").fill(codeOf(app, secret));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Person" }).waitFor();
  });

  await t.test("other sessions are listed and ended, and this one goes on", async (t) => {
    const other = await aPage(t, world);
    await other.context().request.post(`${url}/api/v0/auth/browser/`, { data: { api_key: person.secret } });
    await other.goto("/queue");
    await other.getByRole("button", { name: "Person" }).waitFor();
    await app.runLoop("write-ip-history");
    await page.goto("/account/sessions");
    await page.getByText("Chrome on Linux · this one").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "End all others" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End them" }).click();
    await page.getByRole("button", { name: "End all others" }).waitFor({ state: "detached" });
    await other.goto("/queue");
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByText("this one").waitFor();
  });

  await t.test("a webhook is made, changed, tested and gets another secret", async () => {
    await page.goto("/account/notifications/webhooks");
    await page.getByRole("button", { name: "Add a webhook" }).click();
    await page.getByLabel("Address").fill("https://192.0.2.1/hook");
    await page.getByLabel("Name").fill(HOSTILE);
    await page.getByRole("combobox", { name: "Notifications" }).fill("low");
    await page.getByRole("option", { name: "Low credit" }).click();
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Add the webhook" }).click();
    await page.getByRole("button", { name: "I have kept it" }).click();
    await page.getByRole("button", { name: /^Change webhook/ }).click();
    await page.getByLabel("Address").fill("https://192.0.2.2/hook");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Change the webhook" }).click();
    await page.getByText("https://192.0.2.2/hook").waitFor();
    await page.getByRole("button", { name: /^Test webhook/ }).click();
    await page.getByText(/^The test event was not delivered/).waitFor();
    await page.getByRole("button", { name: /^Deliveries of/ }).click();
    await page.getByText("Nothing was sent yet").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^New secret/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "New secret" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "I have kept it" }).click();
  });

  await t.test("the other pages show what is stored, in both schemes and on a phone", async () => {
    await done(app, person.secret, "POST", "/secrets/", { key: "HF_TOKEN", value: "hf_x" });
    await page.setViewportSize({ width: 390, height: 844 });
    const pages = [
      ["/account", "Profile"],
      ["/account/secrets", "Secrets"],
      ["/account/notifications", "Notifications"],
      ["/account/notifications/preferences", "Preferences"],
      ["/account/notifications/webhooks", "Webhooks"],
      ["/account/audit-log", "Audit log"],
      ["/account/schedules", "Schedules"],
    ] as const;
    for (const [path, name] of pages) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.locator("main [role=status][aria-label^=Loading]").first().waitFor({ state: "detached" });
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${path} scrolls sideways`);
      await assertAccessible(page);
    }
    await page.goto("/account/audit-log?action=api.apikey.delete");
    await page.getByText("1 entry in all").waitFor();
  });
});
