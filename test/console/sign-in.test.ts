import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { issueToken } from "../../server/src/domains/people/sign-in/tokens/tokens.ts";
import { assertAccessible } from "../support/console/accessible.ts";
import { aPage, consoleWorld } from "../support/console/console-world.ts";
import { aCaller, inTransaction } from "../support/fixtures.ts";
import { done, PASSWORD, signUp } from "../support/second-factors.ts";

const NEXT_PASSWORD = "wrong donkey charger clip";

test("signing in to the console", async (t) => {
  const world = await consoleWorld(t);
  const { app, url } = world;
  const admin = await aCaller(app.env.database, { isAdmin: true });

  await t.test(
    "a wrong password says nothing about names, and a right one leads to the page that was asked for",
    async (t) => {
      const person = await signUp(app);
      const page = await aPage(t, world);
      await page.goto("/sign-in?next=%2Faccount%2Fkeys");
      const told: string[] = [];
      for (const name of [person.name, "nobody-at-all"]) {
        await page.getByLabel("Name or e-mail address").fill(name);
        await page.getByLabel("Password").fill("wrong wrong wrong");
        const answered = page.waitForResponse((response) => response.url().endsWith("/auth/browser/"));
        await page.getByRole("button", { name: "Sign in", exact: true }).click();
        await (await answered).finished();
        told.push((await page.getByRole("alert").locator("p").first().textContent()) ?? "");
      }
      assert.deepEqual(
        told,
        Array.from({ length: 2 }, () => "The user name or the password is wrong."),
      );
      await assertAccessible(page);
      await page.getByLabel("Name or e-mail address").fill(person.name);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    },
  );

  await t.test("an address that leads to another site is not followed after the sign-in", async (t) => {
    const person = await signUp(app);
    const page = await aPage(t, world);
    await page.goto(`/sign-in?next=${encodeURIComponent("//evil.example/x")}`);
    await page.getByLabel("Name or e-mail address").fill(person.name);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Person" }).waitFor();
    assert.equal(new URL(page.url()).origin, url);
  });

  await t.test("the first link signs in at once, leaves no token in the address, and works once", async (t) => {
    const link = await done(app, admin.secret, "POST", "/admin/sign_in_links/", {});
    const page = await aPage(t, world);
    await page.goto(link.path);
    await page.getByRole("button", { name: "Person" }).waitFor();
    assert.doesNotMatch(page.url(), /token/);
    const second = await aPage(t, world);
    await second.goto(link.path);
    await second.getByText("This link is unknown, used, revoked or too old").waitFor();
    await second.getByLabel("Password").waitFor();
    assert.doesNotMatch(second.url(), /token/);
  });

  await t.test("an invitation makes an account", async (t) => {
    const invitation = await done(app, admin.secret, "POST", "/admin/invitations/", {});
    const page = await aPage(t, world);
    await page.goto(invitation.path);
    await page.getByText("You are invited.").waitFor();
    assert.doesNotMatch(page.url(), /token/);
    await assertAccessible(page);
    await page.getByLabel("E-mail address").fill("hired@corp.example");
    await page.getByLabel("Password").fill("short");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("button", { name: "Person" }).waitFor();
  });

  await t.test("the link of a reset stores another password, with which the person signs in", async (t) => {
    const person = await signUp(app);
    const made = { purpose: "reset", userId: asId<UserId>(person.id) } as const;
    const { secret } = await inTransaction(app.env.database, (tx) => issueToken(tx, made, randomBytes));
    const page = await aPage(t, world);
    await page.goto(`/reset-password#token=${secret}`);
    await page.getByLabel("New password").fill(NEXT_PASSWORD);
    await assertAccessible(page);
    await page.getByRole("button", { name: "Save the password" }).click();
    await page.getByRole("heading", { name: "Password changed" }).waitFor();
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Name or e-mail address").fill(person.email);
    await page.getByLabel("Password").fill(NEXT_PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Person" }).waitFor();
  });

  await t.test("a passkey is added, named as text, and signs its person in without a password", async (t) => {
    const person = await signUp(app);
    const site = url.replace("127.0.0.1", "localhost");
    const page = await aPage(t, { ...world, url: site });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto("/sign-in?next=%2Faccount%2Fsecurity");
    await page.getByLabel("Name or e-mail address").fill(person.name);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByLabel("Name").fill("<i>laptop</i>");
    await page.getByRole("button", { name: "Make the passkey" }).click();
    await page.getByRole("list", { name: "Passkeys" }).locator("bdi", { hasText: "<i>laptop</i>" }).first().waitFor();
    await page.getByRole("button", { name: "Person" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("button", { name: "Person" }).waitFor();
  });
});
