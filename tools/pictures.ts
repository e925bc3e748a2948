// `./berth pictures [FOLDER]`: pictures of the console's pages, from a market of simulated hosts that is made for them, so
// that they stay true. Without a folder they go to docs/pictures, and only those that the documentation shows are made.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { chromium, type Browser } from "playwright-core";
import { builtConsole } from "../test/support/console/built-console.ts";
import { startBerth, type Berth } from "../test/support/berth.ts";
import { until } from "../test/support/until.ts";

const HOSTS = 40;
const RENTALS = [
  { gpus: 2, label: "trainer" },
  { gpus: 1, label: "notebook" },
  { gpus: 4, label: "render farm" },
];
const SIZES = { wide: { width: 1_280, height: 800 }, phone: { width: 390, height: 844 } } as const;
const SCHEMES = ["light", "dark"] as const;

type Page = { readonly name: string; readonly path: string; readonly isInDocs?: boolean };

/** The pages, by the names of their pictures. */
const PAGES: readonly Page[] = [
  { name: "market", path: "/market", isInDocs: true },
  { name: "instances", path: "/instances", isInDocs: true },
  { name: "instance", path: "/instances/1", isInDocs: true },
  { name: "terminal", path: "/instances/1/terminal", isInDocs: true },
  { name: "files", path: "/instances/1/files" },
  { name: "events", path: "/instances/1/events" },
  { name: "queue", path: "/queue" },
  { name: "templates", path: "/templates", isInDocs: true },
  { name: "volumes", path: "/volumes" },
  { name: "endpoints", path: "/endpoints" },
  { name: "deployments", path: "/deployments" },
  { name: "money", path: "/money", isInDocs: true },
  { name: "charges", path: "/money/charges" },
  { name: "limits", path: "/money/limits" },
  { name: "top-up", path: "/money/top-up" },
  { name: "machines", path: "/host/machines" },
  { name: "join", path: "/host/join" },
  { name: "earnings", path: "/host/earnings" },
  { name: "team", path: "/team" },
  { name: "account", path: "/account" },
  { name: "keys", path: "/account/keys" },
  { name: "security", path: "/account/security" },
  { name: "operate", path: "/operate" },
  { name: "users", path: "/operate/users" },
  { name: "settings", path: "/operate/settings" },
  { name: "help", path: "/help" },
];

/** Rents some offers, and waits until they run. */
async function rentSome(berth: Berth): Promise<void> {
  for (const { gpus, label } of RENTALS) {
    const search = { num_gpus: { eq: gpus }, rentable: { eq: true }, limit: 1 };
    const found = await berth.call("POST", "/api/v0/bundles/", { body: search });
    const body = { image: "ubuntu:24.04", disk: 32, label, runtype: "ssh_direct", env: "-p 8080:8080" };
    await berth.call("PUT", `/api/v0/asks/${found.body.offers[0].id}/`, { key: berth.adminKey, body });
  }
  await until("the rentals to run", async () => {
    const { body } = await berth.call("GET", "/api/v0/instances/", { key: berth.adminKey });
    return body.instances.every((one: { readonly actual_status: string }) => one.actual_status === "running");
  });
}

/** The limit of a wait of a page. */
const PATIENCE_MS = 120_000;

type Shot = { readonly page: Page; readonly scheme: (typeof SCHEMES)[number]; readonly size: keyof typeof SIZES };

function shotsOf(page: Page, isForDocs: boolean): readonly Shot[] {
  const wide = SCHEMES.map((scheme): Shot => ({ page, scheme, size: "wide" }));
  return isForDocs ? wide.slice(0, 1) : [...wide, { page, scheme: "light", size: "phone" }];
}

async function take(
  browser: Browser,
  { berth, folder }: { berth: Berth; folder: string },
  shot: Shot,
): Promise<string> {
  const { page: wanted, scheme, size } = shot;
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme: scheme, reducedMotion: "reduce" });
  try {
    const signedIn = { data: { api_key: berth.adminKey }, headers: { "x-berth-console": "1" } };
    await context.request.post(`${berth.url}/api/v0/auth/browser/`, signedIn);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(`${berth.url}${wanted.path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await until(
      "the page's data",
      async () => (await page.locator("[role=status][aria-label^=Loading]").count()) === 0,
    );
    const parts = [wanted.name, ...(scheme === "dark" ? ["dark"] : []), ...(size === "phone" ? ["phone"] : [])];
    const file = path.join(folder, `${parts.join("-")}.png`);
    await page.screenshot({ path: file });
    return file;
  } finally {
    await context.close();
  }
}

const [given] = process.argv.slice(2);
const folder = path.resolve(given ?? path.join(import.meta.dirname, "../docs/pictures"));
mkdirSync(folder, { recursive: true });
await builtConsole();
const berth = await startBerth({ args: ["--simulate", String(HOSTS)], env: { BERTH_CONSOLE: "1" } });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--headless", "--no-sandbox"] });
try {
  await rentSome(berth);
  const isForDocs = given === undefined;
  const pages = PAGES.filter(({ isInDocs = false }) => isInDocs || !isForDocs);
  for (const shot of pages.flatMap((page) => shotsOf(page, isForDocs))) {
    console.log(path.relative(process.cwd(), await take(browser, { berth, folder }, shot)));
  }
} finally {
  await browser.close();
  await berth.stop();
}
