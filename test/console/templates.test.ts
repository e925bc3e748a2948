import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createEncryption } from "../../server/src/base/encryption.ts";
import { shipTemplates } from "../../server/src/domains/rental/templates/index.ts";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";
import { inTransaction } from "../support/fixtures.ts";

const HOSTILE_NAME = "<img src=x onerror=alert(1)>\u202Egnp";
const HOSTILE_README = [
  "# Fine\n\n<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>",
  "[here](javascript:alert(3)) ![p](https://elsewhere.example/p.png) **bold**",
  "> ".repeat(200) + "deep",
].join("\n\n");

test("templates in the console", async (t) => {
  const world = await consoleWorld(t);
  const { app } = world;
  const [admin, renter, stranger] = [await app.caller(), await app.caller(), await app.caller()];
  const encryption = createEncryption(randomBytes(32), randomBytes);
  await inTransaction(app.env.database, (tx) => shipTemplates(tx, admin.id, { encryption }));
  const body = { name: HOSTILE_NAME, image: "alpine", readme: HOSTILE_README, private: false };
  const made = await app.call({ method: "POST", url: "/api/v0/template/", secret: stranger.secret, body });
  assert.equal(made.status, 200, made.text);
  await app.host({ gpus: 1 });

  await t.test("a renter finds a template that comes with Berth, reads it, and rents with it", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: "/templates" });
    const gallery = page.getByRole("list", { name: "Templates", exact: true });
    await gallery.getByRole("heading", { level: 2, name: "Ubuntu 24.04 with SSH" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("textbox", { name: /Search in names/ }).fill("vllm");
    await page.getByText("1 template", { exact: true }).waitFor();
    await gallery.getByRole("link", { name: "vLLM server" }).click();
    await page.getByRole("region", { name: "Readme" }).getByRole("heading", { name: "Choose the model" }).waitFor();
    await page
      .getByRole("region", { name: "Would it start?" })
      .getByText(/^(Yes, on|Not now)/)
      .waitFor();
    assert.equal(await page.getByRole("button", { name: "Edit" }).count(), 0, "only its owner edits a template");
    await assertAccessible(page);
    await page.getByRole("link", { name: "Rent with this template" }).click();
    await page.getByRole("heading", { level: 1, name: "Market" }).waitFor();
    const { searchParams } = new URL(page.url());
    assert.match(searchParams.get("template") ?? "", /^[0-9a-f]{32}$/);
    assert.match(searchParams.get("q") ?? "", /gpu_ram>=16/);
  });

  await t.test("a hostile name and readme are text, and load nothing", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: `/templates/${made.body.template.id}` });
    await page.getByRole("heading", { level: 1, name: /<img src=x onerror=alert\(1\)>U\+202Egnp/ }).waitFor();
    const readme = page.getByRole("region", { name: "Readme" });
    await readme.getByText("<script>alert(1)</script>").waitFor();
    await readme.getByText("[here](javascript:alert(3))").waitFor();
    assert.equal(await readme.locator("script, img, iframe, [href^=javascript]").count(), 0);
    const picture = readme.getByRole("link", { name: "Picture: p" });
    assert.equal(await picture.getAttribute("rel"), "noopener noreferrer nofollow");
    await assertAccessible(page);
  });

  await t.test("an owner makes a template, changes it, sees what changed, and rolls it back", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: "/templates?form=new" });
    const form = page.getByRole("form", { name: "Template" });
    await form.getByLabel("Name", { exact: false }).first().fill("trainer");
    await form.getByLabel("Image").fill("alpine:3.20");
    await form.getByLabel("Start script").fill("echo one\necho two");
    await assertAccessible(page);
    await form.getByRole("button", { name: "Create template" }).click();
    await page.getByRole("heading", { level: 1, name: "trainer" }).waitFor();
    app.clock.jump(1_000);
    await page.getByRole("button", { name: "Edit" }).click();
    await form.getByLabel("Start script").fill("echo one\necho three");
    await form.getByRole("button", { name: "Save" }).click();
    const versions = page.getByRole("region", { name: "Versions" });
    await versions.getByText("- echo two").waitFor();
    await versions.getByText("+ echo three").waitFor();
    await assertAccessible(page);
    app.clock.jump(1_000);
    await versions.getByRole("button", { name: "Roll back to this" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Roll back" }).click();
    await versions.getByText("+ echo two").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page
      .getByRole("dialog")
      .getByText(/Instances that were made from it stay/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Templates" }).waitFor();
  });

  await t.test("a phone shows both pages without scrolling sideways", async (t) => {
    const page = await signedInPage(t, world, { caller: renter, path: "/templates", isPhone: true });
    const overflow = () =>
      page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    await page.getByRole("heading", { level: 2, name: "Ollama" }).waitFor();
    assert.equal(await overflow(), 0);
    await page.getByRole("link", { name: "Ollama" }).click();
    await page.getByRole("region", { name: "Readme" }).waitFor();
    assert.equal(await overflow(), 0);
  });
});
