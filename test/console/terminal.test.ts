import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { assertAccessible } from "../support/console/accessible.ts";
import { consoleWorld, signedInPage } from "../support/console/console-world.ts";
import { simulatedShells } from "../support/hosts/shell-host.ts";
import { rentAndRun } from "../support/rentals.ts";

test("a renter works in an instance from the browser", async (t) => {
  const world = await consoleWorld(t);
  const { app } = world;
  const host = await app.host({ gpus: 4, ...simulatedShells(t) });
  const caller = await app.caller();
  const id = await rentAndRun(app, caller, host);

  await t.test("what is typed in the terminal is answered by the instance's shell", async (t) => {
    const page = await signedInPage(t, world, { caller, path: `/instances/${id}/terminal` });
    const lines = page.locator(".xterm-rows");
    await lines.getByText("This instance is simulated").waitFor();
    await page.keyboard.type("echo from the browser\n");
    await lines.getByText(/^from the browser/).waitFor();
    await page.keyboard.type("exit\n");
    await page.getByRole("button", { name: "Open another" }).click();
    await lines.getByText("This instance is simulated").waitFor();
  });

  await t.test("a file goes up with its odd name, is listed as text, and comes down as it was", async (t) => {
    const page = await signedInPage(t, world, { caller, path: `/instances/${id}/files` });
    await page.getByRole("link", { name: "README.txt" }).waitFor();
    await assertAccessible(page);
    const name = "<b>notes & more.txt";
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload" }).click();
    await (await chooser).setFiles({ name, mimeType: "text/plain", buffer: Buffer.from("kept\n") });
    const down = page.waitForEvent("download");
    await page.getByRole("link", { name }).click();
    const download = await down;
    assert.equal(download.suggestedFilename().includes("more.txt"), true);
    assert.equal(await readFile(await download.path(), "utf8"), "kept\n");
    await page.getByLabel("Name of a new folder").fill("data");
    await page.getByRole("button", { name: "Make folder" }).click();
    await page.getByRole("button", { name: "data/" }).click();
    await page.getByText("The folder is empty").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("path"), "/root/data");
    await page.getByRole("button", { name: "Up", exact: true }).click();
    await page.getByRole("button", { name: `Delete ${name}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name }).waitFor({ state: "detached" });
  });

  await t.test(
    "the log of a host with an older agent is asked for again and again, and the page says so",
    async (t) => {
      const page = await signedInPage(t, world, { caller, path: `/instances/${id}/logs` });
      const answer = async (count: number, text: string) => {
        const task = (await host.tasks(count))[count - 1];
        assert.ok(task);
        await host.answer(task.task_id, text);
      };
      await answer(1, "first <b>line</b>\n");
      await page.getByText("agent is older than following").waitFor();
      const log = page.getByLabel("Log", { exact: true });
      await log.getByText("first <b>line</b>").waitFor();
      await answer(2, "first <b>line</b>\nsecond\n");
      await log.getByText("second").waitFor();
      await page.getByLabel("Lines that contain").fill("SECOND");
      await log.getByText("first").waitFor({ state: "detached" });
      await page.getByText("1 line", { exact: true }).waitFor();
    },
  );

  await t.test("a stopped instance says why it has no terminal", async (t) => {
    const page = await signedInPage(t, world, { caller, path: `/instances/${id}/terminal` });
    await page.locator(".xterm-rows").getByText("This instance is simulated").waitFor();
    const stopped = await app.call({
      method: "PUT",
      url: `/api/v0/instances/${id}/`,
      secret: caller.secret,
      body: { state: "stopped" },
    });
    assert.equal(stopped.status, 200, stopped.text);
    await host.obey();
    await page.getByText("No terminal can be opened now").waitFor();
    await assertAccessible(page);
  });
});
