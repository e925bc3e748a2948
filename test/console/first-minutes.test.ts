import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { discard, startBerth, untilOffered } from "../support/berth.ts";
import { builtConsole } from "../support/console/built-console.ts";
import { aPage } from "../support/console/console-world.ts";
import { openBrowser } from "../support/console/open-browser.ts";

const HOSTS = 50;
/** Most clicks from the printed link to a terminal: the link, the market, an offer, and its rental. */
const CLICKS_MAX = 4;

test("a newcomer comes from the printed link to a terminal in few clicks, on simulated hosts by a real clock", async (t) => {
  await builtConsole();
  const env = { BERTH_CONSOLE: "1", BERTH_PRINT_SIGN_IN_LINK: "1" };
  const berth = await startBerth({ args: ["--simulate", String(HOSTS)], env });
  t.after(() => discard(berth));
  await untilOffered(berth, HOSTS);
  const link = /http:\S+\/sign-in#token=\S+/.exec(berth.output())?.[0];
  assert.ok(link !== undefined, berth.output());
  const page = await aPage(t, { url: berth.url, browser: await openBrowser(t) });
  const begunMs = performance.now();
  let clicks = 1;
  const click = async (target: Locator) => {
    await target.click();
    clicks += 1;
  };
  await page.goto(link);
  await click(page.getByRole("link", { name: "Rent a machine" }));
  await click(page.getByRole("button", { name: /^Rent .*, offer \d+$/ }).first());
  await click(page.getByRole("button", { name: /^Rent for / }));
  await page.locator(".xterm-rows").getByText("This instance is simulated").waitFor();
  t.diagnostic(`${clicks} clicks and ${((performance.now() - begunMs) / 1000).toFixed(1)} s to a terminal`);
  await page.keyboard.type("echo at home\n");
  await page
    .locator(".xterm-rows")
    .getByText(/^at home/)
    .waitFor();
  assert.ok(clicks <= CLICKS_MAX, `${clicks} clicks`);
});
