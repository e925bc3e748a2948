import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useId, useRef } from "react";
import type { NavSection } from "./sections.ts";
import classes from "./frame.module.css";

type Props = {
  readonly sections: readonly NavSection[];
  /** Counts beside entries, by their path. */
  readonly counts: Readonly<Record<string, number | undefined>>;
  readonly onChoose?: () => void;
};

/** Links to all areas, in sections. */
export function Sidebar({ sections, counts, onChoose }: Props) {
  const id = useId();
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // The sidebar of an operator is longer than the screen.
  useEffect(() => {
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
  }, [pathname]);
  return (
    <nav ref={nav} aria-label="Main" className={classes["nav"]}>
      {sections.map(({ name, entries }) => (
        // A section of its own would be a landmark, with the name of one in some pages.
        <div key={name} role="group" aria-labelledby={`${id}${name}`} className={classes["navSection"]}>
          <h2 id={`${id}${name}`} className={classes["navTitle"]}>
            {name}
          </h2>
          <ul>
            {entries.map(({ label, to }) => (
              <li key={to}>
                <Link
                  to={to}
                  className={classes["navLink"]}
                  activeOptions={{ exact: entries.some((other) => other.to !== to && other.to.startsWith(`${to}/`)) }}
                  {...(onChoose === undefined ? {} : { onClick: onChoose })}
                >
                  <span>{label}</span>
                  {(counts[to] ?? 0) > 0 && <span className={classes["navCount"]}>{counts[to]}</span>}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
