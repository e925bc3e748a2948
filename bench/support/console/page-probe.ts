// Measures a page in a real browser as its reader sees it: from the start of a visit, or from a key press, to the frame
// that shows the result.
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";

/** The result of a search as the probe reads it: ids of the first offers in order, and how many match. */
type Shown = { readonly text: string };

type Seen = {
  readonly begunMs: number;
  readonly shownMs: number | null;
  readonly wanted?: string;
  readonly state: string;
};

/** How long an answer may take to appear before the measurement fails. */
const PATIENCE_MS = 60_000;
/** Questions of the benchmark disturb the page; the time itself is taken in the page. */
const POLL_MS = 100;
/** Rows at the top that are compared. */
export const ROWS_COMPARED = 12;

/**
 * The part in the page, installed before the page's own script. It looks after each change of the document, and takes the
 * time when the frame with the change has been drawn: a task that a frame queued runs after it.
 */
const PROBE = `(() => {
  const probe = { begunMs: 0, shownMs: undefined, wanted: undefined };
  probe.state = () => {
    const buttons = [...document.querySelectorAll('button[aria-label*=", offer "]')].slice(0, ${ROWS_COMPARED});
    const ids = buttons.map((button) => button.getAttribute("aria-label").split(", offer ").at(-1));
    return ids.join() + " " + (document.querySelector("[aria-live] strong")?.textContent ?? "").replaceAll(",", "");
  };
  const look = () => {
    if (probe.wanted === undefined || probe.state() !== probe.wanted) return;
    probe.wanted = undefined;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (probe.shownMs = performance.now());
      port2.postMessage(undefined);
    });
  };
  probe.expect = (wanted) => {
    Object.assign(probe, { wanted, shownMs: undefined, begunMs: 0 });
    look();
  };
  addEventListener("keydown", () => (probe.begunMs ||= performance.now()), true);
  const watch = { childList: true, subtree: true, attributes: true, characterData: true };
  new MutationObserver(look).observe(document, watch);
  globalThis.benchProbe = probe;
})()`;

export async function installProbe(page: Page, first?: Shown): Promise<void> {
  await page.addInitScript(`${PROBE};${first === undefined ? "" : expecting(first)}`);
}

/** Milliseconds from the start of the visit to the frame that showed what installProbe was told to expect. */
export async function untilShown(page: Page): Promise<number> {
  return (await waitForFrame(page, PATIENCE_MS)).shownMs;
}

/** Milliseconds from a key press to the frame that shows the answer. */
export async function pressUntil(
  page: Page,
  key: string,
  wanted: Shown,
  patienceMs: number = PATIENCE_MS,
): Promise<number> {
  await page.evaluate(expecting(wanted));
  await page.keyboard.press(key);
  const { begunMs, shownMs } = await waitForFrame(page, patienceMs);
  return shownMs - begunMs;
}

/** Milliseconds from the start of the visit to the first frame with a text or a picture. */
export async function firstContentMs(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const watch = new PerformanceObserver((list) => {
      const found = list.getEntriesByName("first-contentful-paint")[0];
      if (found !== undefined) resolve(found.startTime);
    });
    watch.observe({ type: "paint", buffered: true });
  })`);
}

/** Bytes that a page loads as they go over the wire, by the browser's kind of resource. */
export async function countBytes(page: Page): Promise<ReadonlyMap<string, number>> {
  const session = await page.context().newCDPSession(page);
  const [kinds, bytes] = [new Map<string, string>(), new Map<string, number>()];
  session.on("Network.responseReceived", ({ requestId, type }) => kinds.set(requestId, type));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? "Other";
    bytes.set(kind, (bytes.get(kind) ?? 0) + encodedDataLength);
  });
  await session.send("Network.enable");
  return bytes;
}

function expecting({ text }: Shown): string {
  return `benchProbe.expect(${JSON.stringify(text)})`;
}

/** Throws with what the page shows when it does not show what it should. */
async function waitForFrame(
  page: Page,
  patienceMs: number,
): Promise<Pick<Seen, "begunMs"> & { readonly shownMs: number }> {
  const untilMs = performance.now() + patienceMs;
  let last = "";
  while (performance.now() < untilMs) {
    const { begunMs, shownMs, wanted, state } = await page.evaluate<Seen>(
      `({ begunMs: benchProbe.begunMs, shownMs: benchProbe.shownMs ?? null, wanted: benchProbe.wanted, state: benchProbe.state() })`,
    );
    if (shownMs !== null) return { begunMs, shownMs };
    last = `it shows ${state} instead of ${wanted ?? "a frame"}`;
    await sleep(POLL_MS);
  }
  throw new Error(`the page never showed the answer: ${last}`);
}
