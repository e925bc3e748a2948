// A real server and a real browser for the tests of the console: one of each for a test file.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { TestCaller } from "../fixtures.ts";
import { testApp, type TestApp, type TestAppOptions } from "../app.ts";
import { ManualClock } from "../manual-clock.ts";
import { builtConsole } from "./built-console.ts";
import { openBrowser } from "./open-browser.ts";

/** For one action or wait of a page: a machine that ten programs share is slow. */
const PATIENCE_MS = 120_000;
const TICK_MS = 200;
/** Real time that passes while the server's clock moves on by one. */
const SLOWNESS = 5;

export type ConsoleWorld = {
  readonly app: TestApp;
  /** The address of the server. */
  readonly url: string;
  readonly browser: Browser;
};

type WorldOptions = TestAppOptions & {
  /** Work with a clock that stands still, such as weeks that pass in jumps. */
  readonly prepare?: (app: TestApp) => Promise<unknown>;
  /** The name by which the browser knows the server, for tests that name it before it has a port. */
  readonly siteName?: string;
};

/** A server with the console whose clock begins now and goes on, and a browser. */
export async function consoleWorld(
  t: Pick<TestContext, "after">,
  { prepare, siteName, ...options }: WorldOptions = {},
): Promise<ConsoleWorld> {
  const console = await builtConsole();
  const clock = options.clock ?? new ManualClock(Date.now());
  const app = await testApp(t, { ...options, clock, console });
  await prepare?.(app);
  // Changes are looked for at intervals of the server's clock, so the clock runs while the page is watched. It runs slowly,
  // since the hosts of tests report when they are told to, and would be taken for lost after a minute.
  const ticking = setInterval(() => clock.advance(TICK_MS / SLOWNESS), TICK_MS);
  t.after(() => clearInterval(ticking));
  if (siteName === undefined) return { app, url: `http://${app.origin}`, browser: await openBrowser(t) };
  const browser = await openBrowser(t, [`--host-resolver-rules=MAP ${siteName} ${app.origin}`]);
  return { app, url: `http://${siteName}`, browser };
}

export type PageOptions = {
  readonly colorScheme?: "light" | "dark";
  /** A phone of 390 by 844 pixels instead of a wide screen. */
  readonly isPhone?: boolean;
  /** Messages in the browser's console that the test provokes. */
  readonly expected?: RegExp;
  /** Takes any certificate, as a person does who has not installed the root of the installation. */
  readonly trustsAll?: boolean;
};

/**
 * A page of a browser that nobody is signed in at. The test fails when the page logs an error: an uncaught exception, or
 * something that its content policy refused.
 */
export async function aPage(
  t: Pick<TestContext, "after">,
  { url, browser }: Pick<ConsoleWorld, "url" | "browser">,
  { colorScheme = "light", isPhone = false, trustsAll = false, expected }: PageOptions = {},
): Promise<Page> {
  const viewport = isPhone ? { width: 390, height: 844 } : { width: 1_360, height: 850 };
  const context = await browser.newContext({
    ...{ baseURL: url, colorScheme, viewport, hasTouch: isPhone, ignoreHTTPSErrors: trustsAll },
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  t.after(async () => {
    await context.close();
    const unexpected = complaints.filter((text) => expected?.test(text) !== true);
    assert.deepEqual(unexpected, [], "the page logged errors");
  });
  return page;
}

/** The same, signed in with a key of this caller. */
export async function signedInPage(
  t: Pick<TestContext, "after">,
  world: Pick<ConsoleWorld, "url" | "browser">,
  {
    caller,
    path = "/",
    ...options
  }: PageOptions & { readonly caller: Pick<TestCaller, "secret">; readonly path?: string },
): Promise<Page> {
  const page = await aPage(t, world, options);
  await signIn(page.context(), world.url, caller.secret);
  await page.goto(path);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

/** Gives the browser the cookie of a session that a key opens. */
async function signIn(context: BrowserContext, url: string, key: string): Promise<void> {
  const answer = await context.request.post(`${url}/api/v0/auth/browser/`, {
    data: { api_key: key },
    headers: { "x-berth-console": "1" },
  });
  assert.equal(answer.status(), 200, await answer.text());
}

function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    // The browser's own lines about answers of the server: the page itself shows what they mean.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}
