// Keys that work on every page, outside of fields.
import { useHotkeys } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { later } from "../clock.ts";
import type { NavSection } from "./sections.ts";

type Means = {
  readonly sections: readonly NavSection[];
  readonly openPalette: () => void;
  readonly openHelp: () => void;
};

/** The second key of `g i` comes within this time. */
const SECOND_KEY_MS = 1_200;

export function useShortcuts({ sections, openPalette, openHelp }: Means): void {
  useHotkeys([["mod+K", openPalette]], []);
  useGo(sections);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event)) return;
      if (event.key === "?") openHelp();
      else if (event.key === "/") focusSearch(openPalette);
      else if (event.key === ".") focusActions();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [openHelp, openPalette]);
}

/** `g` and then the letter of an entry leads there. */
function useGo(sections: readonly NavSection[]): void {
  const navigate = useNavigate();
  useEffect(() => {
    let forget: (() => void) | undefined;
    const press = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      if (forget === undefined) {
        if (event.key === "g") forget = later(SECOND_KEY_MS, () => (forget = undefined));
        return;
      }
      forget();
      forget = undefined;
      const entry = sections.flatMap(({ entries }) => entries).find(({ key }) => key === event.key);
      if (entry === undefined) return;
      event.preventDefault();
      void navigate({ to: entry.to });
    };
    // Before the page's own keys, which may use the second letter for something else.
    document.addEventListener("keydown", press, { capture: true });
    return () => {
      forget?.();
      document.removeEventListener("keydown", press, { capture: true });
    };
  }, [sections, navigate]);
}

/** True for keys that belong to a field, a dialog, or another program. */
function isTyping({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  return (
    target instanceof Element &&
    target.closest("input, textarea, select, [contenteditable], [role=dialog], .xterm") !== null
  );
}

/** The search field of the page, where it has one; the palette otherwise. */
function focusSearch(openPalette: () => void): void {
  const field = document.querySelector<HTMLElement>("main [data-page-search]");
  if (field === null) openPalette();
  else field.focus();
}

/** The first action of the page. */
function focusActions(): void {
  document.querySelector<HTMLElement>("main [data-page-actions] button, main header button")?.focus();
}
