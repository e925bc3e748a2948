// `./berth pictures [FOLDER] [--dark] [--phone] [--only NAME,…]`: a picture of each page of the console, from a market that
// is made for them, so that they stay true. Without a folder they go to docs/pictures. With `--dark` and `--phone` it also
// takes pictures in dark colours and of the width of a phone, to look at.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { aPage, signedInPage, type ConsoleWorld } from "../test/support/console/console-world.ts";
import { open, SHOWN_PAGES } from "../test/support/console/market/pages.ts";
import { marketWorld, type SeededMarket } from "../test/support/console/market/seed.ts";
import { withPalette } from "./png-palette.ts";

const WIDE = { width: 1_280, height: 800 };
const QUIET_MS = 3_000;
const STEP_MS = 24 * 3_600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dark: { type: "boolean" }, phone: { type: "boolean" }, only: { type: "string" } },
});
const folder = path.resolve(positionals[0] ?? path.join(import.meta.dirname, "../docs/pictures"));
const only = values.only?.split(",");

type Look = { readonly ending: string; readonly colorScheme: "light" | "dark"; readonly isPhone: boolean };

const LOOKS: readonly Look[] = [
  { ending: "", colorScheme: "light", isPhone: false },
  ...(values.dark === true ? [{ ending: "-dark", colorScheme: "dark", isPhone: false } as const] : []),
  ...(values.phone === true ? [{ ending: "-phone", colorScheme: "light", isPhone: true } as const] : []),
];

/** Takes pictures of all pages that look like this, those of one person in one browser context. */
async function takeAll(world: ConsoleWorld, market: SeededMarket, look: Look): Promise<void> {
  const pages = new Map<string, Page>();
  for (const shown of SHOWN_PAGES.filter(({ name }) => only?.includes(name) ?? true)) {
    const { by, name } = shown;
    const page =
      pages.get(by) ??
      (by === "nobody"
        ? await aPage(after, world, look)
        : await signedInPage(after, world, { caller: market[by], path: "/help", ...look }));
    pages.set(by, page);
    await page.emulateMedia({ colorScheme: look.colorScheme, reducedMotion: "reduce" });
    if (!look.isPhone) await page.setViewportSize(WIDE);
    await open(page, shown, market);
    // Some pages ask again and again, so the network is quiet at most for a while.
    await page.waitForLoadState("networkidle", { timeout: QUIET_MS }).catch(() => undefined);
    const file = path.join(folder, `${name}${look.ending}.png`);
    writeFileSync(file, withPalette(await page.screenshot({ caret: "hide" })));
    console.log(path.relative(process.cwd(), file));
  }
}

const endings: (() => unknown)[] = [];
const after = { after: (end: () => unknown) => void endings.push(end) };
mkdirSync(folder, { recursive: true });
try {
  const world = await marketWorld(after, { days: 35, stepMs: STEP_MS, minutes: 60 });
  for (const look of LOOKS) await takeAll(world, world.market, look);
} finally {
  for (const end of endings) await end();
}
