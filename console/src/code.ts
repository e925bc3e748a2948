import { lazyRouteComponent } from "@tanstack/react-router";
import { lazy, type ComponentType } from "react";

/** The code of a page or a part cannot be had: the server is away, or has other files since an upgrade. */
export class CodeMissing extends Error {
  override readonly name = "CodeMissing";
}

/**
 * Loads code. A failure is a `CodeMissing`, for which the whole page is loaded again once the server answers
 * (`pages/strays/Broken.tsx`). The router by itself would load it at once, and leave nothing on the screen while the server
 * is away.
 */
async function codeOf<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    throw new CodeMissing("The code of the page could not be loaded", { cause: error });
  }
}

/** The component of a route, loaded when somebody goes there. */
export function lazyPage<Module extends Readonly<Record<string, unknown>>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => codeOf(load), name);
}

/** A part of a page, loaded when it is shown for the first time. */
export function lazyPart<Name extends string, Props>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
) {
  return lazy(async () => ({ default: (await codeOf(load))[name] }));
}
