import { ActionIcon, Popover } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Instance } from "../../../../sdk/src/index.ts";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { portsOf, sshCommandOf } from "./instance.ts";
import classes from "./instances.module.css";

/** Copies the SSH command of an instance; the arrow beside it opens the other ways in. */
export function Connect({ instance }: { readonly instance: Instance }) {
  const command = sshCommandOf(instance);
  const id = String(instance.id);
  const name = `Ways into instance ${id}`;
  return (
    <span className={classes["connect"]}>
      {command === undefined ? <span className="dim">–</span> : <CopyButton text={command} what="the SSH command" />}
      <Popover position="bottom-end" shadow="md" trapFocus>
        <Popover.Target>
          <ActionIcon size="sm" aria-label={name}>
            <Icon name="chevron" size={14} />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown aria-label={name}>
          <div className={classes["ways"]}>
            <Link to="/instances/$id/terminal" params={{ id }}>
              Terminal
            </Link>
            <Link to="/instances/$id/files" params={{ id }}>
              Files
            </Link>
            {portsOf(instance).map(({ inner, place, link, isJupyter }) =>
              link === undefined ? (
                <span key={inner}>
                  Port {inner}: <HostileText text={place} />
                </span>
              ) : (
                <a key={inner} href={link} target="_blank" rel="noreferrer">
                  {isJupyter ? "Jupyter" : `Port ${inner}`}
                </a>
              ),
            )}
          </div>
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}
