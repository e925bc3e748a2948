// A real server for each test file of the console, and a real browser for all files of a process.
import assert from "node:assert/strict";
import { after, type TestContext } from "node:test";
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

let sharedBrowser: Promise<Browser> | undefined;
/**
 * Contexts that no test uses now, by the server and the look of their pages. The first page of a new context takes twice the
 * processor time of one more page of a used context, since everything is fetched, decompressed and compiled again.
 */
const usedContexts = new Map<string, BrowserContext[]>();
let closeBrowser = async () => {};
// The hook of the whole process: a hook that is added in a test belongs to that test.
after(() => closeBrowser());

/** A server with the console whose clock begins now and goes on, and a browser. */
export async function consoleWorld(
  t: Pick<TestContext, "after">,
  { prepare, siteName, ...options }: WorldOptions = {},
): Promise<ConsoleWorld> {
  // Before the server closes, which waits for connections on which a browser has not asked for anything yet.
  t.after(closeContexts);
  const console = await builtConsole();
  const clock = options.clock ?? new ManualClock(Date.now());
  const app = await testApp(t, { ...options, clock, console });
  await prepare?.(app);
  // Changes are looked for at intervals of the server's clock, so the clock runs while the page is watched. It runs slowly,
  // since the hosts of tests report when they are told to, and would be taken for lost after a minute.
  const ticking = setInterval(() => clock.advance(TICK_MS / SLOWNESS), TICK_MS);
  t.after(() => clearInterval(ticking));
  const url = `http://${siteName ?? app.origin}`;
  if (siteName !== undefined) {
    return { app, url, browser: await openBrowser(t, [`--host-resolver-rules=MAP ${siteName} ${app.origin}`]) };
  }
  sharedBrowser ??= openBrowser({ after: (close) => void (closeBrowser = close) });
  return { app, url, browser: await sharedBrowser };
}

/** Closes the contexts that no test uses. */
async function closeContexts(): Promise<void> {
  const contexts = [...usedContexts.values()].flat();
  usedContexts.clear();
  for (const context of contexts) await context.close();
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
  const look = `${url} ${colorScheme} ${isPhone} ${trustsAll}`;
  const used = usedContexts.get(look)?.pop();
  const options = { baseURL: url, colorScheme, viewport, hasTouch: isPhone, ignoreHTTPSErrors: trustsAll };
  const context = used ?? (await browser.newContext(options));
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (used !== undefined) await makeAsNew(page, url);
  const complaints = complaintsOf(page);
  t.after(async () => {
    await giveBack(context, look);
    const unexpected = complaints.filter((text) => expected?.test(text) !== true);
    assert.deepEqual(unexpected, [], "the page logged errors");
  });
  return page;
}

/** Closes the pages of a context but for one without scripts, since a browser forgets what it compiled with the last page. */
async function giveBack(context: BrowserContext, look: string): Promise<void> {
  const idle = await idlePage(context).catch(() => undefined);
  // The server or the browser is gone already when a page belonged to the whole test file.
  if (idle === undefined) return context.close();
  await closeOthers(idle);
  usedContexts.set(look, [...(usedContexts.get(look) ?? []), context]);
}

async function idlePage(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto("/icon.svg");
  return page;
}

/** Removes what earlier pages left in the browser, except the files that it has fetched and compiled. */
async function makeAsNew(page: Page, url: string): Promise<void> {
  await closeOthers(page);
  await page.context().clearCookies();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Storage.clearDataForOrigin", { origin: url, storageTypes: "local_storage,indexeddb" });
  await devtools.detach();
}

async function closeOthers(page: Page): Promise<void> {
  for (const other of page.context().pages()) if (other !== page) await other.close();
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
