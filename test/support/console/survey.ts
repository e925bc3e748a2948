// Faults of a page for people with other senses, keyboards or phones.
import type { Page } from "playwright-core";
import { schemeOf, violationsIn } from "./accessible.ts";

/** A phone of the smallest usual width. */
const PHONE = { width: 390, height: 844 };

/** Further rows and cards of a list, and further entries of a section of the sidebar: they are made as those before them. */
const REPEATED = [
  ...["tbody tr:nth-child(n+4)", "ul[class*=_cards_] > li:nth-child(n+4)", "nav[aria-label=Main] li:nth-child(n+2)"],
];

/**
 * Faults of an open page, each as a sentence: those that axe finds, hidden focus, and what a phone would scroll sideways. The
 * page is looked at in the scheme that it shows, and then on a phone in the other one, in which it stays: a change of the
 * scheme draws everything again.
 */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  const [wide, scheme] = [page.viewportSize(), await schemeOf(page)];
  const found = [...(await violationsIn(page, scheme, "all", REPEATED)), ...(await hiddenFocus(page))];
  await page.setViewportSize(PHONE);
  found.push(
    ...(await violationsIn(page, scheme === "light" ? "dark" : "light", "colours", REPEATED)),
    ...(await tooWide(page)),
  );
  if (wide !== null) await page.setViewportSize(wide);
  return found;
}

/**
 * Controls that look the same with the keyboard's focus as without. The outline or shadow may be that of the element, of the
 * box around it, or of what is drawn in place of a hidden input beside it.
 */
async function hiddenFocus(page: Page): Promise<readonly string[]> {
  // A key makes the browser treat the focus as that of the keyboard.
  await page.keyboard.press("Shift");
  const found = await page.evaluate<readonly string[]>(`(() => {
    const look = (element) => {
      const near = [element, element.parentElement, element.nextElementSibling, element.parentElement?.parentElement];
      return near.map((one) => {
        if (!one) return "";
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(one);
        return [outlineStyle === "none" ? "" : outlineWidth + outlineColor, boxShadow, borderColor].join();
      }).join("|");
    };
    const all = document.querySelectorAll("a[href], button, input, select, textarea, [tabindex='0']");
    const hidden = [];
    for (const element of all) {
      if (element.closest(${JSON.stringify(REPEATED.join())}) !== null) continue;
      if (element.disabled || element.tabIndex < 0 || !element.checkVisibility()) continue;
      document.activeElement?.blur?.();
      const before = look(element);
      element.focus({ preventScroll: true });
      if (document.activeElement === element && look(element) === before) hidden.push(element.outerHTML.slice(0, 120));
    }
    document.activeElement?.blur?.();
    return hidden;
  })()`);
  return found.map((html) => `the focus is not visible on ${html}`);
}

/** Elements that are wider than the page, outside boxes that scroll by themselves. */
async function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(() => {
    const root = document.documentElement;
    const over = root.scrollWidth - root.clientWidth;
    if (over <= 0) return [];
    const isScrolled = (element) => {
      for (let at = element.parentElement; at !== null && at !== document.body; at = at.parentElement) {
        if (getComputedStyle(at).overflowX !== "visible") return true;
      }
      return false;
    };
    const wide = [...document.body.querySelectorAll("*")]
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 0.5 && !isScrolled(one))
      .slice(-3)
      .map((one) => one.outerHTML.slice(0, 160));
    return ["the page is " + over + " px wider than a phone: " + wide.join("\\n  ")];
  })()`);
}
