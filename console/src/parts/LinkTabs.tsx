import { Link, type LinkProps } from "@tanstack/react-router";
import classes from "./link-tabs.module.css";

type To = NonNullable<LinkProps["to"]>;
type Props = {
  readonly label: string;
  readonly params?: { readonly id: string };
  /** The first is the page itself; the others lie below it. */
  readonly tabs: readonly { readonly label: string; readonly to: To }[];
};

/** Tabs that are pages of their own, with their own addresses. */
export function LinkTabs({ label, params, tabs }: Props) {
  return (
    <nav aria-label={label} className={classes["tabs"]}>
      {tabs.map(({ label: name, to }) => (
        <Link
          key={to}
          to={to}
          {...(params === undefined ? {} : { params })}
          activeOptions={{ exact: true }}
          className={classes["tab"]}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
