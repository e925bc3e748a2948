import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { until } from "../until.ts";

type Violation = {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
};
export type Scheme = "light" | "dark";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** Rules about colours. The schemes differ in nothing else, so the second one is looked at by these rules alone. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Asserts that axe finds nothing in the page as it is, in both colour schemes. The page stays in the other scheme: each change
 * draws everything again.
 */
export async function assertAccessible(page: Page): Promise<void> {
  const shown = await schemeOf(page);
  assert.deepEqual(await violationsIn(page, shown, "all"), []);
  assert.deepEqual(await violationsIn(page, shown === "light" ? "dark" : "light", "colours"), []);
}

/** The scheme that the page shows. */
export function schemeOf(page: Page): Promise<Scheme> {
  return page.evaluate<Scheme>("document.documentElement.dataset.mantineColorScheme");
}

/** Violations of the page as it is, shown in this scheme: by all its rules, or by those about colours alone. */
export async function violationsIn(
  page: Page,
  colorScheme: Scheme,
  rules: "all" | "colours",
  /** Selectors of what is left out. */
  exclude: readonly string[] = [],
): Promise<readonly string[]> {
  // The debugger's own evaluation is not bound by the policy of the page.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(await readFile(AXE, "utf8"));
  const options = { resultTypes: ["violations"], preload: false };
  const chosen = rules === "all" ? options : { ...options, runOnly: COLOUR_RULES };
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await until(`the ${colorScheme} scheme at rest`, () =>
    page.evaluate<boolean>(
      `document.documentElement.dataset.mantineColorScheme === "${colorScheme}" &&
       document.getAnimations().every((animation) => animation.playState !== "running")`,
    ),
  );
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(${JSON.stringify({ exclude })}, ${JSON.stringify(chosen)}).then(({ violations }) => violations)`,
  );
  return violations.map((violation) => `in the ${colorScheme} scheme: ${describe(violation)}`);
}

function describe({ id, help, nodes }: Violation): string {
  return `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join("\n")}`;
}
