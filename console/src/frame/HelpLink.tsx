import { Link, useMatches } from "@tanstack/react-router";
import { HELP_OF } from "../help.ts";
import classes from "./help-link.module.css";

/** A small question mark that leads to the help of the page that is open. */
export function HelpLink() {
  const target = useMatches()
    .toReversed()
    .map(({ fullPath }) => HELP_OF[fullPath.replace(/(?<=.)\/$/, "")])
    .find((each) => each !== undefined);
  if (target === undefined) return null;
  const [page = "", hash = ""] = target.split("#");
  return (
    <Link to="/help/$page" params={{ page }} hash={hash} className={classes["link"]} aria-label="Help for this page">
      ?
    </Link>
  );
}
