import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { sshKeyList } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Icon } from "../../ui/Icon.tsx";
import classes from "./instances.module.css";

/** The steps of a newcomer; a step that is done says so. */
export function FirstSteps() {
  const keys = useQuery(askPlain("key.ssh", sshKeyList)).data;
  const hasKey = keys !== undefined && keys.length > 0;
  return (
    <ol className={classes["steps"]}>
      <li>
        {hasKey && <Icon name="check" />}
        <Link to="/account/ssh-keys">{hasKey ? "Your SSH key is in place" : "Add an SSH key"}</Link>, or skip this:
        every instance has a terminal in the browser.
      </li>
      <li>
        <Link to="/templates">Pick a template</Link>, or name any image later.
      </li>
      <li>
        <Link to="/market">Go to the market</Link> and rent a machine by the second.
      </li>
    </ol>
  );
}
