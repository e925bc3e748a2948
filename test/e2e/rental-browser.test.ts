// A rental as its renter works in it from the browser: a real container behind the terminal, the files, the notebook's
// link and the log.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { run } from "../support/berth.ts";
import { builtConsole } from "../support/console/built-console.ts";
import { assertAccessible } from "../support/console/accessible.ts";
import { signedInPage } from "../support/console/console-world.ts";
import { openBrowser } from "../support/console/open-browser.ts";
import { docker, fillWithBusybox, imageOf } from "../support/hosts/docker.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { aRenter, untilUntouched, type Renter } from "../support/renter.ts";
import { Cleanups } from "../support/sign-in/closing.ts";
import { until } from "../support/until.ts";

const IMAGE = "berth-test/browser-notebook:1";
/**
 * A server in the place of Jupyter's, with the instance's certificate. It answers the address with the right token and
 * refuses all others, since it serves files by name.
 */
const NOTEBOOK = `#!/bin/sh
mkdir -p /srv/notebook && cd /srv/notebook && echo "notebook of instance $CONTAINER_ID" > "?token=$JUPYTER_TOKEN"
exec openssl s_server -quiet -WWW -accept 8080 -cert /etc/instance.crt -key /etc/instance.key
`;

/** Fills a folder with busybox, and with OpenSSL and the libraries that it needs. */
async function fillWithNotebook(root: string): Promise<void> {
  await fillWithBusybox(root);
  const { stdout } = await run("ldd", ["/usr/bin/openssl"]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, file = ""]) => file);
  for (const file of libraries) {
    await mkdir(path.join(root, path.dirname(file)), { recursive: true });
    await copyFile(file, path.join(root, file));
  }
  await copyFile("/usr/bin/openssl", path.join(root, "bin/openssl"));
  await writeFile(path.join(root, "bin/jupyter"), NOTEBOOK);
  for (const program of ["openssl", "jupyter"]) await chmod(path.join(root, "bin", program), 0o755);
}

describe("a rental in the browser", () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  const [pages, browsers] = [new Cleanups(), new Cleanups()];
  let machine: ThisMachine;
  let renter: Renter;
  let page: Page;
  let id: number;
  let container: string;

  before(async () => {
    await builtConsole();
    machine = await startThisMachine(30_900, { BERTH_CONSOLE: "1" });
    cleanups.push(() => machine.close());
    renter = await aRenter(machine, "browser");
    cleanups.push(() => renter.close());
    await imageOf(IMAGE, ["ENV PATH=/bin", 'CMD ["sleep","86400"]'], fillWithNotebook);
    const instance = await renter.rentAndRun({
      ...{ image: IMAGE, runtype: "jupyter_direct", onstart: "echo onstart was here" },
    });
    id = instance.id;
    container = await machine.containerOf(id);
    cleanups.push(() => browsers.run());
    cleanups.push(() => pages.run());
    const { url } = machine.berth();
    const browser = await openBrowser(browsers);
    page = await signedInPage(pages, { url, browser }, { caller: { secret: renter.key }, trustsAll: true });
  });
  after(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  test("the terminal is the container's own shell: its size follows the window, and Ctrl-C ends what runs", async () => {
    await page.goto(`/instances/${id}/terminal`);
    const lines = page.locator(".xterm-rows");
    const answerTo = async (command: string, answer: RegExp): Promise<string> => {
      await page.keyboard.type(`${command}\n`);
      await lines.getByText(answer).last().waitFor();
      return (await lines.getByText(answer).last().textContent()) ?? "";
    };
    await page.getByRole("textbox", { name: "Terminal input" }).waitFor();
    await lines.getByText(/#\s*$/).waitFor();
    const hostname = await answerTo("hostname; echo typed > /root/typed", new RegExp(`^${container.slice(0, 12)}`));
    assert.ok(hostname.startsWith(container.slice(0, 12)));
    assert.equal(await docker("exec", container, "cat", "/root/typed"), "typed");

    const wide = await answerTo("echo size $(busybox stty size) wide", /^size \d+ \d+ wide/);
    await page.setViewportSize({ width: 700, height: 700 });
    const sizeOf = (text: string) => text.split(" ").slice(1, 3).map(Number);
    await until("the shell to have fewer columns", async () => {
      const [, columns = 0] = sizeOf(await answerTo("echo size $(busybox stty size) narrow", /^size \d+ \d+ narrow/));
      return columns > 0 && columns < (sizeOf(wide)[1] ?? 0);
    });

    await page.keyboard.type("echo sleeping; sleep 86399\n");
    await lines.getByText(/^sleeping/).waitFor();
    await until("the program in the container", async () => (await docker("exec", container, "ps")).includes("86399"));
    await page.keyboard.press("Control+c");
    await answerTo("echo ended with $?", /^ended with 130/);
    assert.doesNotMatch(await docker("exec", container, "ps"), /86399/);
    await page.setViewportSize({ width: 1_360, height: 850 });
  });

  test("a file that goes up is in the container byte by byte, and comes down as the container has it", async () => {
    await page.goto(`/instances/${id}/files`);
    await page.getByRole("heading", { name: "Files" }).waitFor();
    const bytes = randomBytes(3_000_000);
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload" }).click();
    await (await chooser).setFiles({ name: "model.bin", mimeType: "application/octet-stream", buffer: bytes });
    const link = page.getByRole("link", { name: "model.bin" });
    await link.waitFor();
    const digest = await docker("exec", container, "busybox", "sha256sum", "/root/model.bin");
    assert.equal(digest.split(" ")[0], createHash("sha256").update(bytes).digest("hex"));

    await docker("exec", container, "sh", "-c", "echo changed inside >> /root/model.bin");
    const down = page.waitForEvent("download");
    await link.click();
    const got = await readFile(await (await down).path());
    assert.ok(got.equals(Buffer.concat([bytes, Buffer.from("changed inside\n")])));
  });

  test("the link of the notebook leads with its token to a server in Jupyter's place, over its certificate", async () => {
    await page.goto(`/instances/${id}`);
    const link = page.getByRole("link", { name: /\(Jupyter\)/ });
    await link.waitFor();
    const address = (await link.getAttribute("href")) ?? "";
    const opened = page.waitForEvent("popup");
    await link.click();
    const notebook = await opened;
    await notebook.getByText(`notebook of instance ${id}`).waitFor();
    assert.equal(notebook.url(), address);
    await notebook.goto(address.replace(/token=.*/, "token=wrong"));
    assert.doesNotMatch(await notebook.locator("body").innerText(), /notebook of instance/);
    await notebook.close();
  });

  test("the log follows what the container prints, with its colours, in the page and in the command, until it stops", async () => {
    await page.goto(`/instances/${id}/logs`);
    const log = page.getByLabel("Log", { exact: true });
    await log.getByText("onstart was here").waitFor();
    const following = renter.cli("logs", String(id), "--follow");
    const print = (text: string) => docker("exec", container, "sh", "-c", `printf '${text}\\n' > /proc/1/fd/1`);
    await print("<b>a line</b> of the main process");
    await print("\\033[31mred\\033[0m \\033]0;title\\007and plain");
    await log.getByText("<b>a line</b> of the main process").waitFor();
    await log.getByText(/^red$/).waitFor();
    await log.getByText("and plain").waitFor();
    await assertAccessible(page);
    await page.getByLabel("Lines that contain").fill("a line");
    await log.getByText("and plain").waitFor({ state: "detached" });
    const down = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    assert.match(await readFile(await (await down).path(), "utf8"), /onstart was here\n[^]*and plain\n$/);
    await renter.destroy(id);
    const { code, stdout } = await following;
    assert.equal(code, 0);
    const shown = stdout.split("\n").filter((line) => /main process|plain|onstart was/.test(line));
    assert.deepEqual(shown, [
      "onstart was here",
      "<b>a line</b> of the main process",
      "\u001B[31mred\u001B[0m \u001B]0;title\u0007and plain",
    ]);
    await untilUntouched(machine, renter);
  });
});
