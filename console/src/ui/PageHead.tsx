import { type ReactNode, use } from "react";
import { HelpLinkContext } from "./help-link.ts";
import classes from "./page.module.css";

type Props = {
  readonly title: ReactNode;
  /** One line below the title. */
  readonly note?: ReactNode;
  /** Buttons at the right. */
  readonly actions?: ReactNode;
};

/** The head of a page: its only heading of the first level, a link to its help, and its actions. */
export function PageHead({ title, note, actions }: Props) {
  const helpLink = use(HelpLinkContext);
  return (
    <header className={classes["head"]}>
      <div>
        <div className={classes["titleLine"]}>
          <h1 className={classes["title"]}>{title}</h1>
          {helpLink}
        </div>
        {note !== undefined && <p className={classes["note"]}>{note}</p>}
      </div>
      {actions !== undefined && <div className={classes["actions"]}>{actions}</div>}
    </header>
  );
}

/** A part of a page with a heading of the second level. */
export function Section({
  title,
  actions,
  children,
}: { readonly title: string } & Omit<Props, "title" | "note"> & { readonly children: ReactNode }) {
  return (
    <section className={classes["section"]} aria-label={title}>
      <div className={classes["head"]}>
        <h2 className={classes["subtitle"]}>{title}</h2>
        {actions !== undefined && <div className={classes["actions"]}>{actions}</div>}
      </div>
      {children}
    </section>
  );
}
