import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { NO_PAYMENTS } from "../../server/src/domains/money/payments/for-assembly.ts";
import { issueToken } from "../../server/src/domains/people/sign-in/tokens/tokens.ts";
import { assertAccessible } from "../support/console/accessible.ts";
import { aPage, consoleWorld } from "../support/console/console-world.ts";
import { aCaller, inTransaction } from "../support/fixtures.ts";
import { codeOf, done, nextCode, PASSWORD, signUp, withAuthenticator, type Person } from "../support/second-factors.ts";
import { anIssuer } from "../support/sign-in/issuer.ts";

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

  await t.test("an account with a second factor is asked for a code of the app, or for a backup code", async (t) => {
    const person = await withAuthenticator(app);
    const page = await aPage(t, world);
    const begin = async () => {
      await page.goto("/sign-in");
      await page.getByLabel("Name or e-mail address").fill(person.name);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { name: "Second factor" }).waitFor();
    };
    await begin();
    await assertAccessible(page);
    await page.getByRole("textbox", { name: "Code" }).fill("000000");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("alert").waitFor();
    nextCode(app);
    await page.getByRole("textbox", { name: "Code" }).fill(codeOf(app, person.app));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Person" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await begin();
    await page.getByRole("combobox", { name: "Method" }).click();
    await page.getByRole("option", { name: "Backup code" }).click();
    await page.getByRole("textbox", { name: "Code" }).fill(person.backupCodes[0] ?? "");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Person" }).waitFor();
  });

  await t.test("a session that ends while a form is filled in costs nothing of what was typed", async (t) => {
    const person = await signUp(app);
    const page = await aPage(t, world);
    await page.goto("/sign-in?next=%2Faccount%2Fsecrets");
    await page.getByLabel("Name or e-mail address").fill(person.name);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("button", { name: "Add a secret" }).first().click();
    const panel = page.getByRole("dialog", { name: "Add a secret" });
    await panel.getByLabel("Name").fill("HF_TOKEN");
    await panel.getByLabel("Value").fill("typed-before-the-end");
    const again = page.getByRole("dialog", { name: "Your session has ended" });
    await app.env.pool.query("update api_keys set deleted_at = now() where user_id = $1 and kind <> 'api'", [
      person.id,
    ]);
    await panel.getByRole("button", { name: "Save" }).click();
    await again.getByLabel("Name or e-mail address").fill(person.name);
    await assertAccessible(page);
    await again.getByLabel("Password").fill(PASSWORD);
    await again.getByRole("button", { name: "Sign in", exact: true }).click();
    await again.waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Save" }).click();
    await page.getByRole("table", { name: "Secrets" }).getByText("HF_TOKEN").first().waitFor();
  });

  await t.test("a person joins a team, gets another role, and leaves it; its owner does not", async (t) => {
    const [owner, member] = [await signUp(app), await signUp(app)];
    await app.env.pool.query("update users set email_proven_at = now(), email_proven_by = 'mail' where id = any($1)", [
      [owner.id, member.id],
    ]);
    const pageOf = async (person: Person) => {
      const page = await aPage(t, world);
      await page.goto("/sign-in?next=%2Fteam");
      await page.getByLabel("Name or e-mail address").fill(person.email);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Teams" }).waitFor();
      return page;
    };
    const [owners, members] = [await pageOf(owner), await pageOf(member)];
    await owners.getByLabel("Name of the team").fill("lab <b>one</b>");
    await owners.getByRole("button", { name: "Create it" }).click();
    await owners.getByRole("button", { name: "I have kept it" }).click();
    const teams = (page: Page) => page.getByRole("table", { name: "Teams" });
    const stay = teams(owners).getByRole("button", { name: "Leave" });
    assert.equal(await stay.getAttribute("aria-disabled"), "true");
    await stay.hover();
    await owners.getByText("Hand the team over first, or delete it.").waitFor();
    await owners.getByRole("button", { name: /^Act for it/ }).click();
    await owners.waitForURL((address) => address.pathname !== "/team");
    await owners.goto("/team");
    await owners.getByText("You act for this team as").waitFor();
    await assertAccessible(owners);
    await owners.getByLabel("E-mail address").fill(member.email);
    await owners.getByRole("button", { name: "Invite", exact: true }).click();
    const token = (await owners.getByRole("dialog").locator("pre").textContent()) ?? "";
    await owners.getByRole("button", { name: "I have kept it" }).click();

    await members.getByLabel("Token of the invitation").fill(token);
    await members.getByRole("button", { name: "Join the team" }).click();
    await members.getByRole("button", { name: "I have kept it" }).click();
    await teams(members).getByText("lab <b>one</b>").first().waitFor();
    await assertAccessible(members);
    await owners.reload();
    await owners.getByLabel(`Role of ${member.name}`).selectOption("Manager");
    await owners
      .getByRole("row", { name: new RegExp(member.name) })
      .getByRole("button", { name: "Remove" })
      .waitFor();
    await members.reload();
    await teams(members).getByRole("cell", { name: "Manager" }).waitFor();
    await teams(members)
      .getByRole("button", { name: /^Leave/ })
      .click();
    await members.getByRole("dialog").getByRole("button", { name: "Leave" }).click();
    await members.getByText("No team").waitFor();
    await owners.reload();
    await owners.getByRole("rowheader", { name: owner.name }).waitFor();
    assert.equal(await owners.getByLabel(`Role of ${member.name}`).count(), 0);
  });
});

test("signing in to the console through single sign-on", async (t) => {
  const publicUrl = "http://gpu.example";
  const issuer = await anIssuer(t, {}, { publicUrl });
  const payments = { ...NO_PAYMENTS, publicUrl };
  const world = await consoleWorld(t, { sso: issuer.settings, payments, siteName: "gpu.example" });
  issuer.people.set("ada", { email: "ada@corp.example", email_verified: true, name: "Ada Lovelace" });
  const page = await aPage(t, world);
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Sign in with Example Corp" }).click();
  await page.locator("input[name=login]").fill("ada");
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.locator("button[type=submit]", { hasText: "Continue" }).click();
  await page.getByRole("button", { name: "Person" }).click();
  await page.getByText("Ada Lovelace").first().waitFor();
  assert.equal(new URL(page.url()).origin, publicUrl);

  // The session ends while the person is at a page; they sign in again in another tab, and go on where they were.
  await page.goto("/market");
  // A search is a request with a key of its own, also where the page came without TLS.
  await page.getByText("The market has no offers now").waitFor();
  await world.app.env.pool.query("update api_keys set deleted_at = now() where kind <> 'api'");
  const again = page.getByRole("dialog", { name: "Your session has ended" });
  await page.getByRole("link", { name: "Templates" }).click();
  const opened = page.context().waitForEvent("page");
  await again.getByRole("link", { name: "Sign in with Example Corp in a new tab" }).click();
  const tab = await opened;
  await tab.getByRole("button", { name: "Person" }).waitFor();
  await tab.close();
  // A browser without a screen gives no window the focus.
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await again.waitFor({ state: "detached" });
  await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor();

  await page.goto("/sign-in?error=sso_over");
  await page.getByText("This sign-in took too long").waitFor();
});
