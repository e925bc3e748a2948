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

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** Rules about colours. The schemes differ in nothing else, so the second one is looked at by these rules alone. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Asserts that axe finds nothing in the page as it is, in both colour schemes. */
export async function assertAccessible(page: Page): Promise<void> {
  // The debugger's own evaluation is not bound by the policy of the page.
  if (await page.evaluate<boolean>("typeof axe === 'undefined'")) await page.evaluate(await readFile(AXE, "utf8"));
  for (const colorScheme of ["light", "dark"] as const) {
    const options = { resultTypes: ["violations"], preload: false };
    const chosen = colorScheme === "light" ? options : { ...options, runOnly: COLOUR_RULES };
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await until(`the ${colorScheme} scheme at rest`, () =>
      page.evaluate<boolean>(
        `document.documentElement.dataset.mantineColorScheme === "${colorScheme}" &&
       document.getAnimations().every((animation) => animation.playState !== "running")`,
      ),
    );
    const violations = await page.evaluate<readonly Violation[]>(
      `axe.run(document, ${JSON.stringify(chosen)}).then(({ violations }) => violations)`,
    );
    assert.deepEqual(violations.map(describe), [], `in the ${colorScheme} scheme`);
  }
}

function describe({ id, help, nodes }: Violation): string {
  return `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n  ${failureSummary}`).join("\n")}`;
}
