import { ActionIcon, Tooltip, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useUnreadCount } from "../api/me.ts";
import { count } from "../text/size.ts";
import { Icon } from "../ui/Icon.tsx";
import { AccountMenu } from "./AccountMenu.tsx";
import { MoneyStrip } from "./MoneyStrip.tsx";
import { PersonMenu } from "./PersonMenu.tsx";
import classes from "./frame.module.css";

type Props = { readonly onMenu: () => void; readonly onSearch: () => void; readonly onHelp: () => void };

/** The bar above every page: account, search, money, notifications, person. */
export function TopBar({ onMenu, onSearch, onHelp }: Props) {
  return (
    <header className={classes["bar"]}>
      <ActionIcon className={classes["menuButton"]} aria-label="Menu" size="lg" onClick={onMenu}>
        <Icon name="menu" />
      </ActionIcon>
      <AccountMenu />
      <span className={classes["space"]} />
      <UnstyledButton className={`${classes["barButton"]} ${classes["searchButton"]}`} onClick={onSearch}>
        <Icon name="search" size={14} />
        <span className={classes["searchWord"]}>Search</span>
        <kbd className={classes["wideOnly"]}>Ctrl K</kbd>
      </UnstyledButton>
      <MoneyStrip />
      <Unread />
      <PersonMenu onHelp={onHelp} />
    </header>
  );
}

function Unread() {
  const unread = useUnreadCount();
  const label = unread === 0 ? "Notifications" : count(unread, "unread notification");
  return (
    <Tooltip label={label}>
      <Link to="/account/notifications" className={classes["barButton"]} aria-label={label}>
        <Icon name="bell" />
        {unread > 0 && <span className={classes["unread"]}>{unread > 99 ? "99+" : unread}</span>}
      </Link>
    </Tooltip>
  );
}
