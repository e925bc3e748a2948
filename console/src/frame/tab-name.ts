import { useEffect } from "react";

/** Names the tab after the heading of the page; `person` is who is signed in. */
export function useTabName(person?: number): void {
  useEffect(() => {
    const name = () => {
      const heading = document.querySelector("main h1")?.textContent ?? "";
      document.title = heading === "" ? "Berth" : `${heading} · Berth`;
    };
    const observer = new MutationObserver(name);
    const main = document.querySelector("main");
    if (main !== null) observer.observe(main, { childList: true, subtree: true, characterData: true });
    name();
    return () => observer.disconnect();
  }, [person]);
}
