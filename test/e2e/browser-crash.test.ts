// kill -9 of the server while browsers and a program follow what happens: the pages say so and are right again by
// themselves, and the program hears everything that was acknowledged, once.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { discard, NO_LIMITS, startBerth, untilOffered, type Berth } from "../support/berth.ts";
import { builtConsole } from "../support/console/built-console.ts";
import { signedInPage } from "../support/console/console-world.ts";
import { openBrowser } from "../support/console/open-browser.ts";
import { LiveFollower } from "../support/live-follower.ts";
import { freePort } from "../support/network/free-port.ts";
import { Cleanups } from "../support/sign-in/closing.ts";
import { until } from "../support/until.ts";

const ENV = { ...NO_LIMITS, BERTH_CONSOLE: "1", BERTH_PROXY_PORTS: "off" };
/** Lines of a browser whose requests find nobody, and of a page whose code does not come. */
const AWAY =
  /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|^CodeMissing: /;
/** Changes before the kill, and after it. */
const CHANGES = 20;

describe("kill -9 of the server under browsers and followers", () => {
  const [pages, browsers] = [new Cleanups(), new Cleanups()];
  const followers: LiveFollower[] = [];
  let berth: Berth;
  let port = 0;
  let key = "";
  let id = 0;
  let [list, detail, leaving]: (Page | undefined)[] = [];

  const start = async (dataDir?: string) => {
    const data = dataDir === undefined ? {} : { dataDir };
    berth = await startBerth({ args: ["--simulate", "2"], env: ENV, port, ...data });
  };
  const label = (text: string) => berth.call("PUT", `/api/v0/instances/${id}/`, { key, body: { label: text } });
  const follow = async (afterId?: string) => {
    const asked = { secret: key, kinds: "instance", ...(afterId === undefined ? {} : { after: afterId }) };
    const follower = await LiveFollower.connect(berth.url, asked);
    followers.push(follower);
    await until("the stream to begin", () => follower.of("ready").length > 0);
    return follower;
  };
  const labelsOf = (follower: LiveFollower) => follower.of("instance").map(({ data }) => String(data["label"]));

  before(async () => {
    await builtConsole();
    port = await freePort();
    await start();
    await untilOffered(berth, 2);
    key = String((await berth.admin("user", "create", "you@example.com", "--credit", "50"))["api_key"]);
    const { body } = await berth.call("POST", "/api/v0/bundles/", { body: { limit: 1 } });
    const order = { image: "ubuntu:24.04", disk: 10 };
    const rented = await berth.call("PUT", `/api/v0/asks/${body.offers[0].id}/`, { key, body: order });
    assert.equal(rented.status, 200, rented.text);
    id = Number(rented.body.new_contract);
    const browser = await openBrowser(browsers);
    const open = (path: string) =>
      signedInPage(pages, { url: berth.url, browser }, { caller: { secret: key }, path, expected: AWAY });
    list = await open("/instances");
    detail = await open(`/instances/${id}`);
    leaving = await open("/instances");
    await leaving.getByRole("link", { name: "Volumes" }).waitFor();
    await detail.getByText(/^Running for/).waitFor();
  });
  after(async () => {
    const ends = new Cleanups();
    ends.after(() => pages.run());
    ends.after(() => browsers.run());
    ends.after(() => Promise.all(followers.map((follower) => follower.close())));
    ends.after(() => discard(berth));
    await ends.run();
  });

  test("the pages say that the server is gone, change nothing meanwhile, and are right again by themselves", async () => {
    assert.ok(list && detail && leaving);
    const [lost, lostHere] = [list, detail].map((page) => page.getByText(/^No connection to the server/));
    assert.ok(lost && lostHere);
    await berth.kill();
    await lost.waitFor();
    await lostHere.waitFor();
    await detail.getByText(/^Running for/).waitFor();
    await detail.getByRole("button", { name: "Reboot" }).and(detail.locator("[aria-disabled=true]")).waitFor();
    // The code of a page where nobody has been is on the server that is gone.
    await leaving.getByRole("link", { name: "Volumes" }).click();
    await leaving.getByText("The page loads by itself when the server is back.").waitFor();
    await start(berth.dataDir);
    await leaving.getByRole("heading", { name: "Volumes", level: 1 }).waitFor();
    assert.equal((await label("renamed <i>meanwhile</i>")).status, 200);
    for (const page of [list, detail]) await page.getByText("renamed <i>meanwhile</i>").first().waitFor();
    await lost.waitFor({ state: "detached" });
    await lostHere.waitFor({ state: "detached" });
    await detail.getByText(/^Running for/).waitFor();
  });

  test("two browsers that act on one instance at once both end at what became of it, and the log goes on over the runs", async () => {
    assert.ok(list && detail);
    await list.goto(`/instances/${id}/logs`);
    const log = list.getByLabel("Log", { exact: true });
    await log.getByText("begins, run 1").waitFor();
    for (const page of [list, detail]) await page.getByText(/^Running for/).waitFor();
    // Each of them sends its stop when the time to take it back is over.
    const stopped = [list, detail].map((page) =>
      page.waitForResponse(
        (answer) => answer.request().method() === "PUT" && answer.url().endsWith(`/${id}/`) && answer.ok(),
      ),
    );
    await Promise.all([list, detail].map((page) => page.getByRole("button", { name: "Stop", exact: true }).click()));
    await Promise.all(stopped);
    const startButtons = [list, detail].map((page) =>
      page.getByRole("button", { name: "Start", exact: true }).and(page.locator("[aria-disabled=false]")),
    );
    for (const button of startButtons) await button.waitFor();
    await Promise.all(startButtons.map((button) => button.click()));
    for (const page of [list, detail]) {
      await page.getByText(/^Running for/).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0);
    }
    await log.getByText("begins, run 2").waitFor();
    const lines = (await log.innerText()).split("\n").filter((line) => line.startsWith("simulated:"));
    assert.deepEqual(
      lines.map((line) => / (begins, run \d|ends with code \d+)$/.exec(line)?.[1]),
      ["begins, run 1", "ends with code 143", "begins, run 2"],
    );
  });

  test("a follower that comes back with its last event hears each acknowledged change once, and nothing else twice", async () => {
    const first = await follow();
    const acknowledged: string[] = [];
    const sent: string[] = [];
    const change = async (prefix: string, isOver: () => boolean) => {
      for (let count = 0; !isOver(); count += 1) {
        sent.push(`${prefix} ${count}`);
        const answer = await label(`${prefix} ${count}`).catch(() => undefined);
        if (answer?.status === 200) acknowledged.push(`${prefix} ${count}`);
      }
    };
    let isKilled = false;
    const changing = change("before", () => isKilled);
    await until("changes", () => acknowledged.length >= CHANGES && labelsOf(first).length > 0);
    await berth.kill();
    isKilled = true;
    await changing;
    await until("the end of the stream", () => first.isOver);
    const heardBefore = labelsOf(first).length;
    await start(berth.dataDir);
    await change("after", () => sent.filter((text) => text.startsWith("after")).length === CHANGES);
    const second = await follow(first.lastEventId);
    await until("the last change", () => labelsOf(second).includes(acknowledged.at(-1) ?? ""));
    assert.deepEqual(second.of("reset"), []);
    const ids = [...first.of("instance"), ...second.of("instance")].map((event) => Number(event.id));
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => a - b),
    );
    const labels = [...labelsOf(first), ...labelsOf(second)].filter((text) => /^(?:before|after) /.test(text));
    // Other events of the instance have the label of their moment, too.
    const told = labels.filter((text, index) => text !== labels[index - 1]);
    assert.deepEqual(
      told.filter((text) => acknowledged.includes(text)),
      acknowledged,
    );
    assert.ok(told.every((text) => sent.includes(text)));
    console.log(`${acknowledged.length} changes acknowledged, ${heardBefore} events heard before the kill`);
  });
});
