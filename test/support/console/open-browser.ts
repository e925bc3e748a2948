import { chromium, type Browser } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";
const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"],
];

/** A browser; the end of the test, or of what else takes the call, closes it. */
export async function openBrowser(
  t: { after(close: () => Promise<void>): void },
  flags: readonly string[] = [],
): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags], headless: true });
  t.after(() => browser.close());
  return browser;
}
