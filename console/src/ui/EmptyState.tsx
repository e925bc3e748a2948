import type { ReactNode } from "react";
import classes from "./notes.module.css";

type Props = {
  /** States what is not there: "No instances". */
  readonly title: string;
  /** Says what would fill the place. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
};

/** The place of a list that has nothing. */
export function EmptyState({ title, children, action }: Props) {
  return (
    <div className={classes["empty"]}>
      <p className={classes["title"]}>{title}</p>
      {children !== undefined && <div className={classes["text"]}>{children}</div>}
      {action}
    </div>
  );
}
